"""Who may talk to the server: same origin, sign-in."""
