"""From tables to figures: plain functions, and the style that all charts have."""
