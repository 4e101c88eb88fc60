"""Keep stated eigenvalues or correlations as one setting, a text (`stated_text`). No Streamlit here."""

from dppca_core.populations.stated_text import features, is_table, kept, of_kept
from pages.shared.settings.setting import Choice, LinkValue

EXAMPLE = "100,60,35,20,12"
_MOST_LETTERS = 1500  # of a link: servers and mail programs cut off longer ones
_TOO_LONG = "pasted"  # what a link has in place of numbers that are too many for it


class StatedNumbers(Choice):
    def read(self, raw: str) -> LinkValue:
        raw = raw.strip()
        if raw == _TOO_LONG:
            return LinkValue(self.default, "too long for a link, so paste it again")
        try:
            numbers = of_kept(raw) if len(raw) <= 2 * _MOST_LETTERS else ()
            return LinkValue(kept(numbers))
        except ValueError:
            return LinkValue(self.default, "not readable")

    def link(self, value: object) -> str:
        return str(value) if fits_link(str(value)) else _TOO_LONG

    def text(self, value: object) -> str:
        d = features(str(value))
        if is_table(str(value)):
            return f"correlations of {d} features"
        return str(value).replace(",", ", ") if d <= 8 else f"{d} eigenvalues"


def fits_link(value: str) -> bool:
    return len(value) <= _MOST_LETTERS
