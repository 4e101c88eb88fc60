"""Take pictures of every page of the menu, for README and docs/screens.md: `make pictures`.

    python -m scripts.pictures [PAGE ...]

Each page as it opens (*Your data* with a table), once complete: on a desk in light and dark, and on a
telephone. With names, such as "planner", only those pages are taken anew. A palette of 256 colours keeps all
of them within a few megabytes.
"""

import ast
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser

from pages import order
from scripts import needed_picture
from scripts.docstrings import third_person
from scripts.started import PLAYED, ROOT, chromium, serving

PICTURES = ROOT / "docs" / "pictures"
SCREENS = ROOT / "docs" / "screens.md"
README = ROOT / "README.md"
GALLERY = ("<!-- gallery, written by make pictures -->", "<!-- end of gallery -->")
# The end of a picture's name, and the options of the browser that takes it.
LOOKS: dict[str, dict[str, Any]] = {
    "": {"viewport": {"width": 1440, "height": 900}},
    "-dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "-phone": {"viewport": {"width": 390, "height": 844}},
}
WHOLE = {"explorer": 1180}  # pixels: README shows all panels of this page
PRESSED = {"your_data": "Try it with the breast cancer table"}  # the page is empty before this press
COLUMNS = 3  # of the gallery
PATIENCE_MS = 300_000
# True once the page has been idle for 2 s with all figures drawn and complete.
QUIET = """() => {
  const figures = [...document.querySelectorAll('.dppca-live')];
  const drawn = figures.every((figure) => figure.dataset.drawn && figure.dataset.complete !== 'false');
  const idle = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
  const waiting = document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner]');
  const measuring = /Measuring …|runs measured/.test(document.body.innerText);
  const ready = idle && document.querySelector('[data-testid=stMain] h1') && drawn && !waiting && !measuring;
  if (!ready) window.since = undefined;
  else window.since ??= Date.now();
  return ready && Date.now() - window.since > 2000;
}"""


class Screen(NamedTuple):
    """Hold a page's name in links and files, its title in the menu, and its purpose."""

    name: str
    title: str
    purpose: str

    @property
    def files(self) -> list[str]:
        return [f"{self.name}{look}.png" for look in LOOKS]


def screens() -> list[Screen]:
    """Return every page of the menu: the folders with a page.py, in the order of their names."""
    return [
        Screen(path.parent.name, order.title(path), _purpose(path))
        for path in sorted(ROOT.glob("pages/*/*/page.py"))
    ]


def _purpose(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def take(browser: Browser, address: str, wanted: Sequence[Screen]) -> Iterator[Path]:
    """Take the pictures of these pages in every look, each once its page is complete; yield their files."""
    PICTURES.mkdir(exist_ok=True)
    for screen in wanted:
        for look, options in LOOKS.items():
            page = browser.new_page(**options)
            if not look and screen.name in WHOLE:
                page.set_viewport_size(options["viewport"] | {"height": WHOLE[screen.name]})
            page.add_init_script(PLAYED)
            page.goto(address + screen.name.removeprefix("explorer"))
            if screen.name in PRESSED:
                page.get_by_role("button", name=PRESSED[screen.name]).click()
                page.get_by_role("button", name="Set this limit").wait_for()
            page.wait_for_function(QUIET, timeout=PATIENCE_MS)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            page.close()
            path = PICTURES / f"{screen.name}{look}.png"
            few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(path, optimize=True)
            yield path


def gallery(shown: Sequence[Screen]) -> str:
    cells = [
        f"[![{screen.title}](docs/pictures/{screen.name}.png)](docs/screens.md#{anchor(screen)})<br>{screen.title}"
        for screen in shown
    ]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [cells[i : i + COLUMNS] for i in range(0, len(cells), COLUMNS)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([GALLERY[0], "", lines[0], "|" + "---|" * COLUMNS, *lines[1:], "", GALLERY[1]])


def anchor(screen: Screen) -> str:
    """Return the address of a page's heading within docs/screens.md, as GitHub forms it."""
    return re.sub(r"[^\w -]", "", screen.title.lower()).replace(" ", "-")


def document(shown: Sequence[Screen]) -> str:
    intro = (
        "This page says what each page of the dashboard is for, and shows how it looks as it opens. "
        "`make pictures` took the pictures: on a desktop, in dark mode, on a telephone."
    )
    parts = ["# Every page", intro]
    for screen in shown:
        desk, dark, phone = (f"pictures/{file}" for file in screen.files)
        parts += [
            f"## {screen.title}",
            third_person(screen.purpose, "This page"),
            f"![{screen.title}]({desk})",
            f'<img src="{dark}" width="640" alt="{screen.title}, dark"> '
            f'<img src="{phone}" width="185" alt="{screen.title}, on a telephone">',
        ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    shown = screens()
    names = set(sys.argv[1:])
    unknown = names - {screen.name for screen in shown}
    if unknown:
        sys.exit(f"no such page: {', '.join(sorted(unknown))}")
    wanted = [screen for screen in shown if not names or screen.name in names]
    with serving() as address, chromium() as browser:
        for path in take(browser, address, wanted):
            print(f"{path.relative_to(ROOT)} {path.stat().st_size / 1000:.0f} kB", flush=True)
    for old in {path.name for path in PICTURES.glob("*.png")} - {
        file for screen in shown for file in screen.files
    }:
        (PICTURES / old).unlink()
    needed_picture.write()
    write(shown)


def write(shown: Sequence[Screen]) -> None:
    SCREENS.write_text(document(shown), encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    before, _, rest = readme.partition(GALLERY[0])
    README.write_text(before + gallery(shown) + rest.partition(GALLERY[1])[2], encoding="utf-8")


if __name__ == "__main__":
    main()
