"""Populations of patients: spiked and clinical models, real hospitals, standardisation."""
