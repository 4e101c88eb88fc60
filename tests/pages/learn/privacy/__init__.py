"""Tests of pages/learn/privacy."""
