"""Take part in a joint study by mail: `python -m dppca_core.join plan.json table.csv`."""
