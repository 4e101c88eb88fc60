"""Write the plan of a joint study: `python -m dppca_core.plan dictionary.json --hospital ...`."""
