"""Tests of pages/shared/server."""
