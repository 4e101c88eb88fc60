"""A joint study by mail of five invented hospitals: tables, dictionary, plan, and a program that runs it."""
