"""Decide who may talk to the server: same origin, sign-in."""
