"""From a model's outputs to predictions: plain dicts, one a row in the rows' order, as a kind's `decode` gives them."""
