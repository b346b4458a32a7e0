"""What a task's targets cost, one file an idea.

A loss is a module. `num_outputs(num_labels)`: the width of the head's output. forward(outputs, batch) -> Scored.
divergence(one, other, batch) -> how far two outputs for the same batch lie apart, summed: the symmetric
Kullback-Leibler divergence of distributions, the squared distance of values. predictions(outputs, batch) -> what is
told of each example, by name.
"""
