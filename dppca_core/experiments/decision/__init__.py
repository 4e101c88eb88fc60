"""Answer for a hospital whether it should join: paired runs, the verdict, claims, and where it turns."""
