"""Hold what the planner computes: plans, their answers, and simulations of them. No Streamlit here."""
