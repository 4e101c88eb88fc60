"""What a setting is, links, presets, widgets and the panel of settings."""
