"""Simulate what hospitals gain by joining, what they send, and how they differ."""
