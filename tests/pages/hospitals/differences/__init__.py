"""Tests of pages/hospitals/differences."""
