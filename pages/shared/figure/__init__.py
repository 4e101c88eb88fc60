"""The chart component: Python, HTML, CSS, JavaScript and the Plotly bundle."""
