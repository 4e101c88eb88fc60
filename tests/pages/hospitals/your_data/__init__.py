"""Tests of pages/hospitals/your_data."""
