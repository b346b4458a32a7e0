"""Training against the worst small change of the token vectors.

A choice is an object. One that `adds` a part to the loss: name, `weight`, and __call__(outputs, again, divergence,
like=) -> its sum. One that has `second_pass(model)` asks for each micro-batch to be gone through once more behind its
backward pass, in the context that it returns.
"""
