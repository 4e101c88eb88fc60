"""Order the pages as one learns them, in three groups, whatever folder a page is in. No Streamlit here."""

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
FIRST = "explorer"
GROUPS = {
    "Start": (FIRST, "privacy", "story"),
    "Explore": ("convergence", "bounds", "methods", "papers"),
    "Hospitals": ("providers", "differences", "planner", "your_data"),
}
_OF_FOLDERS = {"explore": "Explore", "hospitals": "Hospitals", "learn": "Start"}  # for any other page


@cache
def menu() -> dict[str, list[Path]]:
    """Return the files of the pages, group by group, in the menu's order; others follow by name."""
    files = {file.parent.name: file for file in sorted(HERE.glob("*/*/page.py"))}
    result = {group: [files[name] for name in names] for group, names in GROUPS.items()}
    named = {name for names in GROUPS.values() for name in names}
    for name in sorted(files.keys() - named):
        result[_OF_FOLDERS[files[name].parents[1].name]].append(files[name])
    return result


def title(page: Path) -> str:
    """Return a page's name in the menu."""
    return page.parent.name.replace("_", " ").capitalize()


@cache
def titles() -> dict[str, str]:
    """Return the menu's word for each page, by its name in links."""
    return {page.parent.name: title(page) for pages in menu().values() for page in pages}
