"""Define settings, links, presets, widgets and the panel of settings."""

from pages.shared.settings.catalogue import CHOICES, PRESETS, RECOMMENDED, Settings

__all__ = ["CHOICES", "PRESETS", "RECOMMENDED", "Settings"]
