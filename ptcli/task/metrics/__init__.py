"""What predictions are worth, over a whole set at once; a file a kind of task, which lists its metrics in METRICS."""
