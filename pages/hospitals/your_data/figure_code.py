"""Write the Python that gives the numbers of this page's figures."""

from pages.hospitals.your_data.rehearsal import Twin


def rehearsal(twin: Twin) -> str:
    return ""


def released() -> str:
    return ""
