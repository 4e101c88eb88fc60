"""Draw the first panel of the explorer: directions, scores or images, for every value of the slider."""
