"""Where patients come from: spiked and clinical models, real hospitals, standardisation."""
