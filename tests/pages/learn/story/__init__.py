"""Tests of pages/learn/story."""
