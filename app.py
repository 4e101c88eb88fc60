"""The dashboard: `streamlit run app.py`. Screens are in pages/, numbers in dppca_core/."""

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
from pages.hospitals.your_data import session
from pages.learn.papers import results
from pages.shared.background import cache, engine, prefetch
from pages.shared.figure import plotly_bundle
from pages.shared.server import same_origin
from pages.shared.settings import catalogue

CACHING = {"Cache-Control": "public, max-age=86400"}
FIRST_SCREEN_SECONDS = 10.0  # what a first visitor's browser takes to show a page, with some to spare


def _begin() -> None:
    """While the first visitor's browser loads: the default experiment; afterwards what other pages need."""
    with surviving("warm-up"):
        cache.warm_up()
    time.sleep(FIRST_SCREEN_SECONDS)
    for step in (_compressed, results.overview):
        with surviving("warm-up"):
            step()


@asynccontextmanager
async def warm(app: App) -> AsyncIterator[None]:
    """Answer at once, and have what visitors need first be measured meanwhile."""
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
    """Once: the server would do it for each visitor anew, a twentieth of a second that all others wait."""
    return gzip.compress(plotly_bundle.PATH.read_bytes(), compresslevel=6)


async def plotly_js(request: Request) -> Response:
    """The chart library, small for those who read gzip, once that is at hand."""
    if "gzip" in request.headers.get("accept-encoding", "") and _compressed.cache_info().currsize:
        headers = CACHING | {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(_compressed(), media_type="application/javascript", headers=headers)
    whole = CACHING | {"Content-Encoding": "identity"}  # or it would be compressed on the way
    return FileResponse(plotly_bundle.PATH, headers=whole)


def near(request: Request) -> Response:
    """What has been measured of the settings one press away from those of the query."""
    settings, _ = catalogue.open_link(dict(request.query_params))
    found = prefetch.ready(settings)
    if str(found["known"]) == request.query_params.get("known"):
        return Response(status_code=204)
    return JSONResponse(found)


same_origin.answer_refused_handshakes()
MultiPartParser.spool_max_size = 2**31  # an upload stays in memory: beyond 1 MB it would go to a file

ROUTES = [
    Route("/healthz", healthz),
    Route("/assets/plotly.min.js", plotly_js),
    Route("/ahead", near),
]

app = App("pages/menu.py", lifespan=warm, routes=ROUTES, middleware=[Middleware(same_origin.SameOrigin)])
