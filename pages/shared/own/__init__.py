"""A person's own table on the screen: brought, rehearsed, released, counted; kept in one session only."""
