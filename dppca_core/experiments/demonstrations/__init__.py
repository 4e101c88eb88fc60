"""Attacks and pictures that show what a guarantee means."""
