"""Define settings, links, presets, widgets and the panel of settings."""
