"""Constants of papers that more than one file needs, as they are printed."""

GE_SENSITIVITY = 2.0  # Ge et al. 2018, Lemma A.1: |xx^T| + |yy^T|
