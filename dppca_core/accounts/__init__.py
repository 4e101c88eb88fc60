"""Accounts of patients' privacy: what releases of their tables may cost together, and what was paid."""
