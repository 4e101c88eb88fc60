"""Describe a page that is added by this folder alone, with a setting of its own."""

from functools import partial

from pages.shared.document.blocks import Blocks, Controls, Frame, Text
from pages.shared.document.html import Document
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings.catalogue import Settings


def at(settings: Settings) -> Document:
    """Return the page at these settings."""
    described = partial(_blocks, settings), partial(_frame, settings)
    return Document("New page", "It has one setting of its own.", "dppca-new-page", *described)


def _blocks(settings: Settings) -> Blocks:
    yield Controls("new", ("new.depth",))
    yield Text(f"The depth is {settings['new.depth']}.")


def _frame(settings: Settings) -> Frame:
    depth = settings_in_words(settings, ("new.depth",))
    return Frame(depth, promise="", limits=(), made=sources.made(settings["seed"]))
