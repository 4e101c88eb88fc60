"""Accounts of patients' privacy: what releases of their tables may cost together, and what was paid.

A script opens an `Account`; the dashboard's tables pay through `book.Payer`. Both write to a `book.Book`.
"""

from dppca_core.accounts.script_account import Account

__all__ = ["Account"]
