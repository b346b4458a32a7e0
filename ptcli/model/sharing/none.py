class NoSharing:
    """Every layer has weights of its own."""

    def plan(self, num_layers: int) -> list[tuple[int, int]]:
        """For each layer that runs, in order: the numbers of its attention and of its feed-forward network."""
        return [(layer, layer) for layer in range(num_layers)]
