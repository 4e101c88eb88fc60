"""Serve the dashboard: `streamlit run app.py`. Screens are in pages/, numbers in dppca_core/."""

import asyncio
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

from dppca_core.experiments.failures import log_errors
from pages import order
from pages.hospitals.your_data import session
from pages.learn.classroom import lesson_file
from pages.learn.papers import model as papers
from pages.shared.background import cache, engine, prefetch
from pages.shared.figure import plotly_bundle
from pages.shared.server import closed_tabs, first_paint, housekeeping, runs, same_origin, uploads
from pages.shared.server.base_path import base_path
from pages.shared.settings import catalogue

CACHING = {"Cache-Control": "public, max-age=86400"}
FIRST_SCREEN_SECONDS = 10.0  # a generous time for a first visitor's browser to show a page, before other work


def _warm_up() -> None:
    """Do what the first visitors would wait for: measure the default experiment, then prepare the rest.

    The rest, the compressed chart library and the table of the page "Papers", comes late, so that it does not
    slow down the first screen. A step that fails is only logged: whatever needs its result does it again.
    """
    with log_errors("warm-up"):
        cache.warm_up()
    time.sleep(FIRST_SCREEN_SECONDS)
    for step in (_compressed_plotly, papers.overview):
        with log_errors("warm-up"):
            step()


@asynccontextmanager
async def warm(app: App) -> AsyncIterator[None]:
    """Start `_warm_up` in a thread, so that the server answers at once meanwhile, and keep house."""
    threading.Thread(target=_warm_up, daemon=True, name="warm-up").start()
    keeping = asyncio.create_task(housekeeping.keep_house())
    yield
    keeping.cancel()


async def healthz(request: Request) -> PlainTextResponse:
    """Answer "ok", or status 503 with the names of background threads that had died.

    The engine measures what pages show, and the other thread forgets the tables of visitors who have left.
    """
    # `revive` starts a thread that does not run, and returns whether it had died.
    died = {"engine": engine.engine().revive(), "leaving": session.expiry().revive()}
    dead = [name for name in died if died[name]]
    if dead:
        return PlainTextResponse(f"started again: {', '.join(dead)}", status_code=503)
    return PlainTextResponse("ok")


@lru_cache(maxsize=1)
def _compressed_plotly() -> bytes:
    """Return the chart library as gzip, made once: compressing it at a request delays all others by 50 ms."""
    return gzip.compress(plotly_bundle.PATH.read_bytes(), compresslevel=6)


async def plotly_js(request: Request) -> Response:
    done = _compressed_plotly.cache_info().currsize > 0  # do not compress it now, while others wait
    if done and "gzip" in request.headers.get("accept-encoding", ""):
        headers = CACHING | {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(_compressed_plotly(), media_type="application/javascript", headers=headers)
    headers = CACHING | {"Content-Encoding": "identity"}  # or Streamlit would compress it for each request
    return FileResponse(plotly_bundle.PATH, headers=headers)


async def lesson(request: Request) -> Response:
    packs = "gzip" in request.headers.get("accept-encoding", "")
    encoding = {"Content-Encoding": "gzip" if packs else "identity", "Vary": "Accept-Encoding"}
    body = lesson_file.packed() if packs else lesson_file.whole()
    return Response(body, media_type="text/html", headers=CACHING | encoding)


def prefetched(request: Request) -> Response:
    """Answer with the figures prepared for the settings one slider press away from those of the query.

    Status 204 says that there are no more than before: the query's `known` is how many the browser has.
    """
    settings, _ = catalogue.open_link(dict(request.query_params))
    figures = prefetch.ready(settings)
    if str(figures["known"]) == request.query_params.get("known"):
        return Response(status_code=204)
    return JSONResponse(figures)


def not_found(request: Request) -> PlainTextResponse:
    return PlainTextResponse("Not Found", status_code=404)


same_origin.answer_refused_handshakes()
runs.mend()
MultiPartParser.spool_max_size = 2**31  # uploads stay in memory; by default those above 1 MB go to a file

ANSWERS = {
    "/healthz": healthz,
    "/assets/plotly.min.js": plotly_js,
    "/ahead": prefetched,
    lesson_file.PATH: lesson,
}
ROUTES = [
    *(Route(base_path() + path, answer) for path, answer in ANSWERS.items()),
    # Streamlit answers any other path with a page and status 200: a health check there could not fail.
    *(Route("/{elsewhere:path}" + path, not_found) for path in ANSWERS),
]

MIDDLEWARE = [
    Middleware(closed_tabs.closed_tabs),
    Middleware(same_origin.SameOrigin),
    Middleware(uploads.Uploads),
    Middleware(first_paint.FirstPaint, titles=order.titles()),
]
app = App("pages/menu.py", lifespan=warm, routes=ROUTES, middleware=MIDDLEWARE)
