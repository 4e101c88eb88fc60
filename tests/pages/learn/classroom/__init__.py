"""Tests of pages/learn/classroom."""
