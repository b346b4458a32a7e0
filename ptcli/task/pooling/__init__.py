"""From the states of an example's tokens to one vector.

A choice is a factory(hidden_size, initializer=) of a module: forward(hidden (B, S, H), batch) -> (E, H), a vector for
each example of a task batch, in its order. Examples of one row never mix.
"""
