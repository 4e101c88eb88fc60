"""The steps that read private rows, each with its sensitivity and proof."""
