"""Tests of pages/learn/papers."""
