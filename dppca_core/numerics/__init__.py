"""Linear algebra and sampling that know nothing of privacy."""
