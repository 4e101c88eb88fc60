"""Measure what a page still lacks after it is shown, and keep the results for all visitors."""
