"""From one vector to logits.

A choice is a factory(size, num_outputs=, initializer=) of a module: forward(states (M, H)) -> (M, C). One that
`reads_states` is asked with (hidden (B, S, H), batch) in place of pooled vectors, and takes no pooling.
"""
