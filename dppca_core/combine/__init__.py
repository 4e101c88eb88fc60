"""Put the answers of a joint study together: `python -m dppca_core.combine plan.json answer-*.json`."""
