"""Noise calibration and composition: exact, zero-concentrated, as printed, and numerical."""
