"""Tests of pages/hospitals/planner."""
