FROM python:3.13-slim
WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt && useradd --create-home visitor
COPY app.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY dppca_core dppca_core
COPY data data
USER visitor
EXPOSE 8501
HEALTHCHECK CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/healthz')"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
