"""Find how many patients or hospitals an error takes, by formula and by simulation."""
