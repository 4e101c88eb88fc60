"""Plan a study: its patients, privacy or hospitals."""
