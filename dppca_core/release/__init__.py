"""Releases on real data: the ledger, its journal, and hardened noise."""
