"""Test that every link of the Markdown files leads somewhere: a file, a heading, a setting of a page."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from pages.shared.settings import of_pages
from pages.shared.settings.catalogue import OF_PARAMETER, open_link
from tests import markdown

FILES = markdown.files()
DASHBOARD = ("127.0.0.1:8501", "localhost:8501")
PAGES = {path.parent.name for path in markdown.ROOT.glob("pages/*/*/page.py")}
HOST = re.compile(r"([a-z0-9-]+\.)+[a-z]{2,}")


def fault(link: str, page: Path) -> str | None:
    """Return what is wrong with a link of a page, or None."""
    to = urlsplit(link)
    if to.netloc in DASHBOARD:
        return _of_dashboard(to.path.strip("/"), to.query)
    if to.scheme or to.netloc:
        good = to.scheme == "https" and HOST.fullmatch(to.netloc)
        return None if good else "an address outside must be https with a host"
    path = (page.parent / unquote(to.path)).resolve() if to.path else page
    if not path.exists():
        return "no such file"
    if not path.is_relative_to(markdown.ROOT):
        return "outside of the repository"
    if to.fragment and (path.suffix != ".md" or to.fragment not in markdown.anchors(path)):
        return "no such heading"
    return None


def _of_dashboard(name: str, query: str) -> str | None:
    if name not in PAGES | {""}:
        return "no such page"
    asked = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    if unknown := set(asked) - set(OF_PARAMETER):
        return f"no such settings: {sorted(unknown)}"
    notices = open_link(asked, of_pages.panel(name).opens)[1]
    return " ".join(notices) or None


def test_every_link_leads_somewhere():
    faults = {(str(page), link): fault(link, page) for page in FILES for link in markdown.links(page)}
    assert {link: why for link, why in faults.items() if why} == {}


def test_links_are_found_at_all():
    readme = markdown.links(markdown.ROOT / "README.md")
    assert sum(link.startswith("http://127.0.0.1:8501") for link in readme) >= 5
    assert "docs/federated.md" in readme and "docs/pictures/story.png" in readme
    assert "docs/screens.md#your-data" in readme


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("docs/none.md", "no such file"),
        ("../outside.md", "no such file"),
        ("docs/screens.md#nowhere", "no such heading"),
        ("#nowhere", "no such heading"),
        ("Makefile#run", "no such heading"),
        ("http://example.org/", "an address outside must be https with a host"),
        ("https://nohost/", "an address outside must be https with a host"),
        ("http://127.0.0.1:8501/explore", "no such page"),
        ("http://127.0.0.1:8501/bounds?epsilon=1", "no such settings: ['epsilon']"),
        ("http://127.0.0.1:8501/bounds?v=2", "no such settings: ['v']"),
    ],
)
def test_a_broken_link_is_seen(link, why):
    assert fault(link, markdown.ROOT / "README.md") == why


@pytest.mark.parametrize("query", ["eps=1000", "k=20&d=10", "data=none"])
def test_a_link_that_a_page_would_correct_is_seen(query):
    assert fault(f"http://127.0.0.1:8501/?{query}", markdown.ROOT / "README.md")


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Plain words", "plain-words"),
        ("`fit` and *others*: what's new?", "fit-and-others-whats-new"),
        ("[`dppca_core.power`](a.md)", "dppca_corepower"),
        ("ε, δ and a_b", "ε-δ-and-a_b"),
    ],
)
def test_headings_are_named_as_github_does(tmp_path, heading, slug):
    page = tmp_path / "page.md"
    page.write_text(f"# {heading}\n\n## {heading}\n\n```sh\n# not one\n```\n", encoding="utf-8")
    assert markdown.anchors(page) == {slug, f"{slug}-1"}
