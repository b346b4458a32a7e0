class NoAdversary:
    """Token vectors stay as they are."""
