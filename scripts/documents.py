"""Write docs/methods and docs/bounds.md from the docstrings: `make docs`."""

from pathlib import Path

from scripts import bound_page, method_pages


def documents() -> dict[Path, str]:
    return method_pages.documents() | bound_page.documents()


def left_over() -> set[Path]:
    return set(method_pages.FOLDER.glob("*.md")) - set(documents())


def main() -> None:
    method_pages.FOLDER.mkdir(exist_ok=True)
    for path in left_over():
        path.unlink()
    for path, content in documents().items():
        path.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
