"""Tests of pages/learn."""
