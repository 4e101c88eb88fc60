"""Hospitals that differ."""
