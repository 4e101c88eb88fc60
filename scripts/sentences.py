"""Print the sentences that pages can say, to be read by people: python -m scripts.sentences [--runs 200]

Opens every page at random settings, plain and analyst's, and prints each sentence once, whatever its numbers.
With --ease it prints how easily each page reads instead: Flesch's reading ease of the median sentence, labels
and technical terms left out (100 is very easy, 60 plain English, 30 academic). Syllables are counted where a
word may be hyphenated, which misses some: compare pages rather than numbers.
"""

import argparse
import json
import random
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyphen
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dppca_core.methods import METHODS
from pages import order
from pages.shared.settings.catalogue import CHOICES

ROUTER = order.HERE / "menu.py"
KINDS = ("markdown", "caption", "info", "warning", "success", "error")
_KEPT = ("view", "repeats", "seed", "ghost")  # settings that the script chooses itself
_LEAST_WORDS = 4  # of a sentence; less is a label
_TECHNICAL = """
    covariance differential privacy principal component components analysis subspace eigenvalue eigenvalues
    eigengap gaussian calibration sensitivity algorithm theorem simulation composition median hospital
    hospitals measurement measurements theta
"""  # no other word can replace them, nor the names of methods
TERMS = {
    *_TECHNICAL.split(),
    *(word.lower() for method in METHODS.values() for word in re.findall("[A-Za-z]+", method.title)),
}
syllables = pyphen.Pyphen(lang="en_US")


def texts(app: AppTest) -> Iterator[str]:
    for kind in KINDS:
        yield from (box.value for box in app.get(kind))
    yield from (box.label for box in app.get("expander"))
    for figure in app.get("bidi_component"):
        try:
            yield from _strings(json.loads(figure.proto.json))
        except (AttributeError, ValueError):
            continue


def _strings(value: Any) -> Iterator[str]:
    """Yield every text within a figure's JSON, names of colours and the like among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text without its markup and links; labels of few words are left out."""
    text = re.sub(r":[a-z]+\[|\]\([^)]*\)|<[^>]+>|%\{[^}]*\}|[*`_\[\]]|^#+ ", "", text, flags=re.MULTILINE)
    for line in text.splitlines():
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", line.strip(" -|")):
            if sum(re.search("[A-Za-z]{2}", word) is not None for word in sentence.split()) >= _LEAST_WORDS:
                yield sentence.strip()


def ease(sentence: str) -> float:
    """Return Flesch's reading ease: 206.835 - 1.015 words - 84.6 syllables a word (Flesch 1948)."""
    words = [word for word in re.findall("[A-Za-z]+", sentence) if word.lower() not in TERMS]
    if not words:
        return 100.0
    count = sum(len(syllables.positions(word)) + 1 for word in words)
    return 206.835 - 1.015 * len(sentence.split()) - 84.6 * count / len(words)


def visit(page: Path, link: dict[str, str]) -> AppTest:
    """Return a page of the dashboard, run once without a browser, opened by a link."""
    app = AppTest.from_file(str(ROUTER), default_timeout=120)
    app._page_hash = calc_hash(page.parent.name)  # by which Streamlit finds a page of st.navigation
    for key, value in link.items():
        app.query_params[key] = value
    return app.run()


def link(rng: random.Random, view: str) -> dict[str, str]:
    """Return a random link: one to five shared settings, and a third of the pages' own, two repeats each."""
    of_pages = [choice for choice in CHOICES.values() if "." in choice.key]
    shared = [choice for key, choice in CHOICES.items() if "." not in key and key not in _KEPT]
    chosen = rng.sample(shared, rng.randint(1, 5)) + rng.sample(of_pages, len(of_pages) // 3)
    words = {c.parameter: c.link(rng.choice(c.options)) for c in chosen if c.options}
    return words | {"view": view, "repeats": "2"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.sentences", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--runs", type=int, default=200, help="pages that are opened (200)")
    parser.add_argument("--ease", action="store_true", help="print how easily each page reads")
    options = parser.parse_args()
    rng = random.Random(0)
    pages = [page for group in order.menu().values() for page in group]
    # By page and view; each sentence by itself with "#" for its numbers, so that it is shown once.
    shown: dict[tuple[str, str], dict[str, str]] = {}
    for run in range(options.runs):
        page, view = pages[run % len(pages)], ("plain", "full")[run // len(pages) % 2]
        defaults = run < 2 * len(pages)  # each page first as it opens
        app = visit(page, {"view": view} if defaults else link(rng, view))
        kept = shown.setdefault((page.parent.name, view), {})
        for text in texts(app):
            for sentence in sentences(text):
                kept.setdefault(re.sub(r"[\d.,]*\d", "#", sentence), sentence)
    for (name, view), kept in sorted(shown.items()):
        if options.ease:
            whole = [ease(sentence) for sentence in kept.values() if sentence[-1] in ".!?"]
            print(f"{name:15}{view:10}{statistics.median(whole):6.0f}{len(whole):7}")
            continue
        print(f"\n== {name}, {view}")
        for sentence in kept.values():
            print(f"{len(sentence.split()):3} {sentence}")


if __name__ == "__main__":
    main()
