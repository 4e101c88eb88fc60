"""Name the tables of this page's figures."""

from pages.hospitals.your_data.rehearsal import Twin


def rehearsal(twin: Twin) -> None:
    return None


def released() -> None:
    return None
