class AttentionSharing:
    """One attention, with its norm, for all layers; each has a feed-forward network of its own (arXiv:1909.11942)."""

    def plan(self, num_layers: int) -> list[tuple[int, int]]:
        """For each layer that runs, in order: the numbers of its attention and of its feed-forward network."""
        return [(0, layer) for layer in range(num_layers)]
