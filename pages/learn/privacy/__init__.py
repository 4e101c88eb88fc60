"""What privacy means, attacked."""
