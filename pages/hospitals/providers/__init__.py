"""What hospitals gain by joining, and what they send."""
