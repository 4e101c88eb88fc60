"""Fill the papers that reviewers of a hospital ask for, from one decision, as texts."""
