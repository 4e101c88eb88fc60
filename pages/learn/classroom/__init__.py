"""The page of a class: a lesson in one file, exercises to hand in, and both on paper."""
