"""Write docstrings as Markdown: formulas as blocks, names in backticks as links, no stray markup."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Collection
from pathlib import Path

from dppca_core.methods import METHODS
from scripts.started import ROOT

_SECTION = re.compile(r"^(Args|Returns|Raises|References):\n((?: {4}.*\n?|\n(?= {4}))+)", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+): ", re.MULTILINE)
_FORMULA = re.compile(r" {4,}\S")
_ITEM = re.compile(r"(\d+\.|-) ")
_CODE = re.compile(r"(`[^`\n]+`)")
# Characters that are markup outside of backticks: stars, strikes, tags, and _ before a word.
_MARKUP = re.compile(r"([*~]|<(?=[a-z/!])|(?<![\w\]})])_(?=\w)|\[(?=[^\]]*\]\())")


def sections(docstring: str) -> tuple[str, dict[str, str]]:
    """Return a Google-style docstring's text, and the dedented text of each of its sections by name."""
    text = inspect.cleandoc(docstring)
    parts = {name: textwrap.dedent(part).strip() for name, part in _SECTION.findall(text)}
    return _SECTION.sub("", text).strip(), parts


def entries(section: str) -> dict[str, str]:
    """Return the sentences of a section by the name that each entry begins with, on one line each."""
    _, *parts = _ENTRY.split(section)
    return {name: " ".join(words.split()) for name, words in zip(parts[::2], parts[1::2], strict=True)}


def third_person(docstring: str, subject: str = "It") -> str:
    """Return a docstring that tells what the code does: "Return it" becomes "It returns it"."""
    verb, space, rest = inspect.cleandoc(docstring).partition(" ")
    verb = verb.lower() + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s")
    return f"{subject} {verb}{space}{rest}" if subject else f"{verb}{space}{rest}"


def described(docstring: str, page: Path, skip: Collection[str] = (), subject: str = "It") -> str:
    """Return a function's docstring as Markdown: its text, then a list of its arguments and other sections.

    skip: arguments to leave out. subject: what the first sentence is about; empty where the caller writes it.
    """
    text, parts = sections(third_person(docstring, subject))
    items = {f"`{name}`": words for name, words in entries(parts.pop("Args", "")).items() if name not in skip}
    items |= {f"**{name}**": " ".join(words.split()) for name, words in parts.items()}
    listed = "\n".join(f"- {name}: {prose(words, page)}" for name, words in items.items())
    return "\n\n".join(part for part in (markdown(text, page), listed) if part)


def markdown(docstring: str, page: Path) -> str:
    """Return a docstring as Markdown for `page`: lines indented by four or more are formulas."""
    lines: list[str] = []
    formula: list[str] = []
    inset = ""

    def close() -> None:
        if not formula:
            return
        while not formula[-1]:
            formula.pop()
        block = textwrap.dedent("\n".join(formula)).split("\n")
        fenced = ["```text", *block, "```"]
        if lines and lines[-1]:
            lines.append("")
        lines.extend((inset + line).rstrip() for line in fenced)
        lines.append("")
        formula.clear()

    for line in inspect.cleandoc(docstring).split("\n"):
        if _FORMULA.match(line):
            formula.append(line)
        elif formula and not line:
            formula.append("")
        else:
            close()
            item = _ITEM.match(line)
            if item:
                inset = " " * item.end()
            elif line and not line.startswith(inset):
                inset = ""
            lines.append(prose(line, page))
    close()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def prose(line: str, page: Path) -> str:
    parts = _CODE.split(line)
    return "".join(
        _linked(part[1:-1], page) if part.startswith("`") and len(part) > 2 else _MARKUP.sub(r"\\\1", part)
        for part in parts
    )


def _linked(name: str, page: Path) -> str:
    """Return a name in backticks, with a link where it is a method's or a module's of the core."""
    method = name.removeprefix("methods.")
    if method in METHODS:
        return link(f"`{method}`", ROOT / "docs" / "methods" / f"{method}.md", page)
    path = ROOT / Path(*name.split(".")).with_suffix(".py")
    if name.startswith("dppca_core.") and path.exists():
        return link(f"`{name}`", path, page)
    return f"`{name}`"


def link(words: str, to: Path, page: Path) -> str:
    """Return a relative link from `page`; just the words where it would lead to the page itself."""
    return words if to == page else f"[{words}]({relative(to, page)})"


def relative(to: Path, page: Path) -> str:
    up = len(page.relative_to(ROOT).parts) - 1
    common = 0
    target, here = to.relative_to(ROOT).parts, page.relative_to(ROOT).parts[:-1]
    while common < min(len(target) - 1, len(here)) and target[common] == here[common]:
        common += 1
    return "../" * (up - common) + "/".join(target[common:])


def named_modules(docstring: str) -> list[str]:
    """Return the modules of the core, without methods, that a docstring refers to by full name."""
    names = dict.fromkeys(re.findall(r"`(dppca_core\.\w+)`", docstring))
    return [name for name in names if (ROOT / Path(*name.split(".")).with_suffix(".py")).exists()]


def arguments(function: Callable[..., object]) -> list[tuple[str, str, str]]:
    """Return (name, type as written, value of the default) of a function's keyword arguments."""
    plain = inspect.unwrap(function)
    node = ast.parse(textwrap.dedent(inspect.getsource(plain))).body[0]
    assert isinstance(node, ast.FunctionDef)
    defaults = inspect.signature(plain).parameters
    return [
        (
            argument.arg,
            ast.unparse(argument.annotation) if argument.annotation else "",
            ""
            if defaults[argument.arg].default is inspect.Parameter.empty
            else repr(defaults[argument.arg].default),
        )
        for argument in node.args.kwonlyargs
    ]


def cell(words: str) -> str:
    """Return words for a cell of a Markdown table, with each bar escaped, since it would end the cell."""
    return words.replace("|", r"\|")
