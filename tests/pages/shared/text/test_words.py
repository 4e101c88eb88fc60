"""Test that one thing has one name and one colour, in titles of methods, charts, sentences and docs."""

import ast
import itertools
import re

from dppca_core.experiments.explorer.results import RUNS
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from pages.shared.charts import style
from pages.shared.plain import share_bars
from tests.test_layers import ROOT

PAGES = sorted((ROOT / "pages").rglob("*.py"))
# By whom it trusts, what follows a method's name where another trust has the name too.
TRUST_ENDINGS = {"central": "", "secure aggregation": ", sealed sums", "untrusted server": ", own noise"}
TRUSTS = {"NOBODY", "SEALED_SUMS", "ONE_PLACE"}
SIDES = {"THE_PATIENT", "ANOTHER_PATIENT"}
MEANINGS = {"PRIVATE", "NOT_PRIVATE", "TRUE", "GUESS"} | TRUSTS | SIDES
# What a chart calls a meaning, and the constant of `style` that must follow that name.
DRAWN_AS = {
    **dict.fromkeys(("random guess", "a random guess"), "GUESS"),
    **dict.fromkeys(("no privacy", "thin: no privacy"), "NOT_PRIVATE"),
    **dict.fromkeys(("with privacy", "private direction", "private pattern"), "PRIVATE"),
    **dict.fromkeys(("true", "true direction", "true pattern"), "TRUE"),
}
CHROME = {  # what is no data: the colours of text, frames and grounds
    "shared/figure/chart.css",
    "shared/figure/player.js",
    "shared/page.css",
    "shared/document/report.css",
    "learn/story/document/story.css",
    # The lesson is a file of its own, whose marks have the colours of style.py.
    *(f"learn/classroom/{name}" for name in ("lesson_file.py", "lesson.html", "worksheet.html", "key.html")),
    *(f"learn/classroom/lesson/{name}" for name in ("lesson.css", "paper.py", "paper.html")),
}
SYNONYMS = re.compile(
    r"\bprivacy settings?\b|\bsp(y|ies)\b|\bsomeone\b|\bwithout protection\b|\bunprotected\b|\byour record\b"
    r"|\bchances? of failure\b|\btake it along\b|\bbest without privacy\b|\b(even|together) without noise\b"
    r"|^with(out)? noise:|^without privacy(:|$)|\bguessing has\b"
    r"|^a guess$|(^|[^\w\s] ?|\band )a guess(:| has\b| recovers\b| does\b)"
    r"|\balone, (un)?protected\b",
    re.IGNORECASE,
)


def texts_of(source):
    """Return the texts of a program that are no docstrings."""
    tree = ast.parse(source)
    bodies = (node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list))
    first = (body[0] for body in bodies if body)
    docstrings = {id(node.value) for node in first if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [node.value for node in constants if isinstance(node.value, str) and id(node) not in docstrings]


def test_a_methods_title_is_its_name_then_its_trust():
    titles = {name: method.title for name, method in METHODS.items()}
    assert len({*titles.values(), RUNS[NO_PRIVACY].title}) == len(titles) + 1
    endings = [ending for ending in TRUST_ENDINGS.values() if ending]
    names = {name: re.sub("|".join(f"{ending}$" for ending in endings), "", titles[name]) for name in titles}
    for name, title in titles.items():
        others = [other for other in names if names[other] == names[name]]
        if len(others) > 1 or title != names[name]:
            assert title == names[name] + TRUST_ENDINGS[METHODS[name].trust], name
    assert {"Two stages, sealed sums", "Two stages, own noise", "Sparse PCA, shrunk"} <= {*titles.values()}


def test_each_meaning_has_a_colour_of_its_own():
    colours = {name: getattr(style, name) for name in MEANINGS}
    assert len(set(colours.values())) == len(MEANINGS)
    reserved = {colour for name, colour in colours.items() if name != "PRIVATE"}
    methods = {look.colour for name, look in style.LOOKS.items() if name != NO_PRIVACY}
    assert not reserved & {*methods, *style.SERIES, *style.ORDERED, *style.THEOREM, *style.REGIONS}
    assert style.PRIVATE not in style.SERIES and style.look("two_stage").colour == style.PRIVATE
    assert style.look(NO_PRIVACY).colour == style.NOT_PRIVATE
    assert [look.colour for look in share_bars.LOOKS.values()] == [
        style.NOBODY,
        style.SEALED_SUMS,
        style.ONE_PLACE,
    ]


def test_charts_draw_a_meaning_in_its_colour():
    """A random guess is dotted as well."""
    seen = set()
    for path in PAGES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.args if isinstance(node, ast.Call) else getattr(node, "elts", [])
            for i, (name, colour) in enumerate(itertools.pairwise(parts)):
                label = name.value if isinstance(name, ast.Constant) else None
                if label in DRAWN_AS and ast.unparse(colour).startswith("style."):
                    seen.add(DRAWN_AS[label])
                    assert ast.unparse(colour) == f"style.{DRAWN_AS[label]}", (path, label)
                    dash = [ast.unparse(part) for part in parts[i + 2 : i + 3]]
                    assert DRAWN_AS[label] != "GUESS" or dash == ["'dot'"], (path, label)
    assert seen == {*DRAWN_AS.values()}


def test_colours_are_chosen_in_one_place():
    files = (path for ending in ("py", "js", "css", "html") for path in (ROOT / "pages").rglob(f"*.{ending}"))
    colour = re.compile(r"[^&\w]#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
    holders = {
        path.relative_to(ROOT / "pages").as_posix()
        for path in files
        if not path.name.endswith(".min.js") and colour.search(path.read_text(encoding="utf-8"))
    }
    assert holders == {"shared/charts/style.py", *CHROME}


def test_screens_have_no_second_name_for_a_thing():
    assert SYNONYMS.search("Here 9 %. A guess: 5 %")
    assert not SYNONYMS.search("A random guess: 5 %. No better than a guess: stop.")
    synonyms = {
        (path.relative_to(ROOT).as_posix(), words)
        for path in PAGES
        for words in texts_of(path.read_text(encoding="utf-8"))
        if SYNONYMS.search(words.strip())
    }
    assert synonyms == set()


def test_docs_have_no_second_name_for_a_thing():
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    lines = [(path.name, line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert [each for each in lines if SYNONYMS.search(each[1])] == []
