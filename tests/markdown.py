"""Read a Markdown file of the repository as GitHub does: blocks, tables, links, headings."""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^( *)(```+|~~~+)[ \t]*([^\n`]*)$")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
_BAR = re.compile(r"(?<!\\)\|")
_INLINE = re.compile(r"(?<!\\)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)")
_TAG = re.compile(r"<(?:img|a)\b[^>]*?\b(?:src|href)=\"([^\"]*)\"")
_BARE = re.compile(r"(?<![\"(<\w])https?://[^\s)>\"`|]+")


class Block(NamedTuple):
    """Hold a fenced block: its file, line, language and text."""

    path: Path
    line: int
    language: str
    text: str


def files() -> list[Path]:
    """Return every Markdown file of the repository, without folders of tools (.venv and the like)."""
    paths = []
    for folder, inside, names in os.walk(ROOT):
        inside[:] = [name for name in inside if not name.startswith((".", "__")) and name != "test-artifacts"]
        paths += [Path(folder, name) for name in names if name.endswith(".md")]
    return sorted(paths)


@lru_cache(maxsize=256)
def parts(path: Path) -> tuple[tuple[Block, ...], str]:
    """Return the fenced blocks, and the rest of the text with blank lines in their place."""
    lines = path.read_text(encoding="utf-8").split("\n")
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        if opened:
            inset, fence, language = opened.groups()
            end = lines.index(inset + fence, at + 1)  # raises ValueError for a block that is not closed
            held = (line.removeprefix(inset) for line in lines[at + 1 : end])
            blocks.append(Block(path, at + 1, language.strip(), "\n".join(held)))
            lines[at : end + 1] = [""] * (end + 1 - at)
            at = end
        at += 1
    return tuple(blocks), "\n".join(lines)


def blocks(path: Path) -> tuple[Block, ...]:
    return parts(path)[0]


def indented(path: Path) -> list[str]:
    """Return lines that Markdown takes for code without a fence, and so without a language."""
    lines = parts(path)[1].split("\n")
    in_list = False
    blocks = []
    for before, line in zip(["", *lines], lines, strict=False):
        if line and not line.startswith(" "):
            in_list = bool(re.match(r"([-*+]|\d+[.)]) ", line))
        if line.startswith("    ") and not before.strip() and not in_list:
            blocks.append(line)
    return blocks


def tables(path: Path) -> list[list[dict[str, str]]]:
    """Return the tables of a file, each row by the names of its columns."""
    tables_read: list[list[dict[str, str]]] = []
    head: list[str] = []
    lines = parts(path)[1].split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        cells = [cell.strip() for cell in _BAR.split(line)[1:-1]] if line.startswith("|") else []
        if not cells:
            head = []
        elif not head and set(after) <= set("|-: "):
            head = cells
            tables_read.append([])
        elif not set(line) <= set("|-: "):
            tables_read[-1].append(dict(zip(head, cells, strict=True)))
    return tables_read


def links(path: Path) -> list[str]:
    """Return where the links, images and bare addresses of a file lead; none inside of code."""
    text = re.sub(r"`[^`\n]*`", "`", parts(path)[1])
    return [*_INLINE.findall(text), *_TAG.findall(text), *_BARE.findall(text)]


@lru_cache(maxsize=256)
def anchors(path: Path) -> frozenset[str]:
    """Return a file's headings as links write them: lower case, no punctuation, dashes for blanks."""
    counted: dict[str, int] = {}
    names = set()
    for line in parts(path)[1].split("\n"):
        if heading := _HEADING.match(line):
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            again = counted.get(slug, 0)
            counted[slug] = again + 1
            names.add(f"{slug}-{again}" if again else slug)
    return frozenset(names)
