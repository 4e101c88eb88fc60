"""Convert between the core's words and Markdown: symbols, sentences, marks. No Streamlit here."""

import re

_SYMBOLS = {
    "epsilon": "ε",
    "delta": "δ",
    "s_hat": "ŝ",
    "providers": "N",
    "iterations": "T",
    "spike": "λ",
    "gamma": "γ",
    "alpha": "α",
    "sigma": "σ",
    "lambda": "λ",
}

# Markdown makes links of addresses, even of escaped ones: an invisible word joiner (U+2060) prevents it.
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_MARKUP = re.compile(r"([\\`*_\[\]<>$~|#]|:(?=\w))")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def symbols(words: str) -> str:
    """Return the core's words with the papers' symbols: ε, √2, 10⁻⁵."""
    for name, symbol in _SYMBOLS.items():
        words = re.sub(rf"\b{name}\b", symbol, words)
    words = re.sub(r"\bsqrt ?(?=[\d(])", "√", words)
    return re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_SUPERSCRIPTS), words)


def sentence(words: str) -> str:
    """Return words with a capital first, unless a symbol, and with Markdown's stars escaped."""
    # A first word of one letter is a symbol, such as k.
    capitalised = words if re.match(r"\w( |$)", words) else f"{words[:1].upper()}{words[1:]}"
    return capitalised.replace("*", r"\*")


def unmarked(words: str) -> str:
    """Return a sentence without its Markdown: emphasis, badges and escapes."""
    words = re.sub(r":\w[\w-]*\[([^\]]*)\]", r"\1", words)
    words = re.sub(r"(?<!\\)\*{1,2}", "", words)
    return re.sub(r"\\([\\`*_\[\]<>$~|#:])", r"\1", words)


def literal(raw: str) -> str:
    """Return a text in which names that people chose are not read as Markdown, nor made into links."""
    return _ADDRESS.sub("\u2060", _MARKUP.sub(r"\\\1", raw))


def refusal(reason: str) -> str:
    """Return why something was refused, as one sentence."""
    sentence = literal(reason)
    return f"{sentence[:1].upper()}{sentence[1:]}{'' if sentence.endswith(('.', '?')) else '.'}"
