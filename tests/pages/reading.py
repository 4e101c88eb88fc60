"""Compute Flesch and Kincaid's grade (1975): 0.39 words per sentence + 11.8 syllables per word - 15.59."""

import re

VOWELS = re.compile(r"[aeiouy]+")


def syllables(word: str) -> int:
    """Return the groups of vowels, less a silent e; a number counts as one."""
    letters = re.sub(r"[^a-z]", "", word.lower())
    count = len(VOWELS.findall(letters))
    if letters.endswith(("e", "es", "ed")) and not letters.endswith(("le", "ted", "ded", "ses", "ces")):
        count -= 1
    return max(1, count)


def grade(body: str) -> float:
    """Return the school year from which on it is read with ease."""
    words = re.findall(r"[A-Za-z0-9][\w.,%'’-]*", body)
    sentences = [part for part in re.split(r"[.!?:]+(?:\s|$)", body) if part.strip()]
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59
