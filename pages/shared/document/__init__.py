"""Describe a screen once, as blocks; show it by Streamlit and write it as a file."""
