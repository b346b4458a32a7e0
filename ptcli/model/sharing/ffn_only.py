class FeedForwardSharing:
    """One feed-forward network, with its norm, for all layers; each has an attention of its own (arXiv:1909.11942)."""

    def plan(self, num_layers: int) -> list[tuple[int, int]]:
        """For each layer that runs, in order: the numbers of its attention and of its feed-forward network."""
        return [(layer, 0) for layer in range(num_layers)]
