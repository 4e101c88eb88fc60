"""Write the lesson for a class, its worksheet and its key: `make lesson`, some 20 seconds."""

from pages.learn.classroom.lesson import build, paper
from scripts.started import ROOT

FOLDER = ROOT / "pages" / "learn" / "classroom"


def main() -> None:
    content = build.content()
    files = {
        "lesson": build.html(content),
        "worksheet": paper.html(content, key=False),
        "key": paper.html(content, key=True),
    }
    for name, text in files.items():
        (FOLDER / f"{name}.html").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
