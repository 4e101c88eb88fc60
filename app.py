"""Serve the dashboard: `streamlit run app.py`. Screens are in pages/, numbers in dppca_core/."""

import gzip
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit.starlette import App

from dppca_core.experiments.failures import surviving
from pages import order
from pages.hospitals.your_data import session
from pages.learn.papers import results
from pages.shared.background import cache, engine, prefetch
from pages.shared.figure import plotly_bundle
from pages.shared.server import first_paint, same_origin
from pages.shared.settings import catalogue

CACHING = {"Cache-Control": "public, max-age=86400"}
FIRST_SCREEN_SECONDS = 10.0  # a generous time for a first visitor's browser to show a page


def _begin() -> None:
    """Measure the default experiment while the first visitor's browser loads, then what other pages need."""
    with surviving("warm-up"):
        cache.warm_up()
    time.sleep(FIRST_SCREEN_SECONDS)
    for step in (_compressed, results.overview):
        with surviving("warm-up"):
            step()


@asynccontextmanager
async def warm(app: App) -> AsyncIterator[None]:
    """Serve at once, and measure what visitors need first in a thread."""
    threading.Thread(target=_begin, daemon=True, name="warm-up").start()
    yield


async def healthz(request: Request) -> PlainTextResponse:
    """Answer "ok", or once 503 with the threads that had died, which this call starts again."""
    lasting = {"engine": engine.engine(), "leaving": session.expiry()}
    dead = [name for name, thread in lasting.items() if thread.revive()]
    if dead:
        return PlainTextResponse(f"started again: {', '.join(dead)}", status_code=503)
    return PlainTextResponse("ok")


@lru_cache(maxsize=1)
def _compressed() -> bytes:
    """Return the compressed library, made once: for each request it would hold up all visitors for 50 ms."""
    return gzip.compress(plotly_bundle.PATH.read_bytes(), compresslevel=6)


async def plotly_js(request: Request) -> Response:
    """Return the chart library, compressed for browsers that accept it once that is ready."""
    if "gzip" in request.headers.get("accept-encoding", "") and _compressed.cache_info().currsize:
        headers = CACHING | {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(_compressed(), media_type="application/javascript", headers=headers)
    whole = CACHING | {"Content-Encoding": "identity"}  # or Streamlit would compress it for each request
    return FileResponse(plotly_bundle.PATH, headers=whole)


def prefetched(request: Request) -> Response:
    """Return what has been measured of the settings one press away from those of the query."""
    settings, _ = catalogue.open_link(dict(request.query_params))
    figures = prefetch.ready(settings)
    if str(figures["known"]) == request.query_params.get("known"):
        return Response(status_code=204)
    return JSONResponse(figures)


same_origin.answer_refused_handshakes()
MultiPartParser.spool_max_size = 2**31  # uploads stay in memory; by default those above 1 MB go to a file

ROUTES = [
    Route("/healthz", healthz),
    Route("/assets/plotly.min.js", plotly_js),
    Route("/ahead", prefetched),
]

MIDDLEWARE = [Middleware(same_origin.SameOrigin), Middleware(first_paint.FirstPaint, titles=order.titles())]
app = App("pages/menu.py", lifespan=warm, routes=ROUTES, middleware=MIDDLEWARE)
