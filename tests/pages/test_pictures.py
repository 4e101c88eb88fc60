"""Test that every page has its pictures, in docs/screens.md and README, as `make pictures` writes them."""

import pytest
from PIL import Image

from scripts import needed_picture, pictures, report_pictures

SHOWN = pictures.screens()
README = pictures.README.read_text(encoding="utf-8")
NOT_BLANK = 16  # colours that an empty page does not have


@pytest.mark.parametrize("page", SHOWN, ids=[page.name for page in SHOWN])
def test_a_page_has_pictures_that_show_something(page):
    for file, options in zip(page.files, pictures.LOOKS.values(), strict=True):
        with Image.open(pictures.PICTURES / file) as picture:
            assert picture.width == options["viewport"]["width"]
            assert picture.height >= options["viewport"]["height"]
            assert len(picture.convert("RGB").getcolors(2**24)) > NOT_BLANK
        assert f"pictures/{file}" in pictures.SCREENS.read_text(encoding="utf-8")
    assert f"docs/pictures/{page.name}.png" in README
    assert page.purpose


def test_documents_are_what_the_command_writes_and_nothing_is_left_over():
    assert pictures.SCREENS.read_text(encoding="utf-8") == pictures.document(SHOWN)
    assert pictures.gallery(SHOWN) in README
    kept = {path.name for path in pictures.PICTURES.iterdir()}
    drawn = [needed_picture.PICTURE, *report_pictures.pictures()]
    assert kept == {file for page in SHOWN for file in page.files} | {path.name for path in drawn}
    assert sum(path.stat().st_size for path in pictures.PICTURES.iterdir()) < 3e6
