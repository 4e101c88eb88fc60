"""Draw what full view compares: protocols, and hospitals that differ."""
