"""Releases on real data: what is asked for, hardened noise, and what is published."""
