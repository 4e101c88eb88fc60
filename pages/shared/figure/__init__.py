"""Hold the chart component: Python, HTML, CSS, JavaScript and the Plotly bundle."""
