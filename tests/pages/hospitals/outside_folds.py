"""Read what a page in plain view shows outside of its folds for statisticians, and check its words."""

import re

from pages.shared.plain import phrases

_FOLDS = (phrases.FOLD, "Where this comes from")
_METHODS = re.compile(
    r"\b(PCA|Gauss|CAPE|SuLQ|Oja|Wishart|moments?|two[- ]stages?|stacked|power method)\b", re.IGNORECASE
)
_SYMBOLS = re.compile(r"[†‡*δσΘŝλ‖]|(?<!privacy loss )ε|\d[eE]-\d|\bsin\b|\bseed|\brounds?\b", re.IGNORECASE)


def shown(block) -> str:
    """Return the words of all elements but those in a fold; Markdown's stars are left out."""
    words = []
    for child in block.children.values():
        if child.type == "expander" and child.label.startswith(_FOLDS):
            continue
        if hasattr(child, "children"):
            words += [getattr(child, "label", "") or "", shown(child)]
        elif child.type not in ("html", "bidi_component", "file_uploader"):
            given = (getattr(child, name, "") for name in ("label", "value", "options", "help"))
            words += [str(each) for each in given if each is not None]
    return re.sub(r"(\*+)([^*\n]+)\1", r"\2", "\n".join(words))


def technical(text: str, known: str = "") -> list[str]:
    """Return the technical words in a text but those in `known`, such as a file's name."""
    matches = [match[0] for pattern in (_METHODS, _SYMBOLS) for match in pattern.finditer(text)]
    return [word for word in matches if word not in known]
