"""Form the planner's sentences from its numbers. No Streamlit here."""
