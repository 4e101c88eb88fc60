"""The words of the story: what its steps say, their terms in plain words, and the speaker's notes."""
