"""The dashboard: `streamlit run app.py`. Screens are in pages/, numbers in dppca_core/."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import plotly
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.starlette import App

from pages.shared import cached, paper_results

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


@asynccontextmanager
async def warm(app: App) -> AsyncIterator[None]:
    """Measure the default scene before the first visitor does, and read the papers' results meanwhile."""
    cached.warm_up()
    threading.Thread(target=paper_results.overview, daemon=True, name="papers").start()
    yield


async def healthz(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


async def plotly_js(request: Request) -> FileResponse:
    return FileResponse(PLOTLY, headers={"Cache-Control": "public, max-age=86400"})


MultiPartParser.spool_max_size = 2**31  # an upload stays in memory: beyond 1 MB it would go to a file

ROUTES = [Route("/healthz", healthz), Route("/assets/plotly.min.js", plotly_js)]

app = App("pages/menu.py", lifespan=warm, routes=ROUTES)
