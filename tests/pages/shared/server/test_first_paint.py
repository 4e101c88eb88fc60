"""The style sheet is in the head of what a browser opens, and in nothing else."""

import asyncio

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route

from pages.shared.server.first_paint import FirstPaint

PAGE = f'<html><head><title>ours</title></head><body>{"patients " * 200}<div id="root"></div></body></html>'
SERVED = Starlette(
    routes=[
        Route("/", lambda request: HTMLResponse(PAGE, headers={"etag": '"plain"'})),
        Route("/papers", lambda request: HTMLResponse(PAGE)),
        Route("/<script>alert", lambda request: HTMLResponse(PAGE)),
        Route("/file.html", lambda request: HTMLResponse(PAGE)),
        Route("/text", lambda request: PlainTextResponse("</head>")),
    ],
    middleware=[
        Middleware(FirstPaint, titles={"explorer": "Explorer", "papers": "Papers"}),
        Middleware(GZipMiddleware, minimum_size=10),
    ],
)


def answer(path: str, **headers: str) -> tuple[Headers, str]:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": raw, "query_string": b""}
    sent: list[dict] = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    asyncio.run(SERVED(scope, receive, send))
    return Headers(raw=sent[0]["headers"]), b"".join(part["body"] for part in sent[1:]).decode()


def test_a_page_has_the_style_sheet_before_anything_is_drawn():
    headers, text = answer("/", accept="text/html", accept_encoding="gzip")
    assert "stMainBlockContainer" in text.split("</head>")[0] and text.endswith("</div></body></html>")
    assert "<h1>Explorer</h1>" in text and "<aside>" in text  # the page's own shape
    assert int(headers["content-length"]) == len(text)
    assert "etag" not in headers  # or a browser would keep the page of another style sheet


def test_the_shape_is_of_a_known_page_alone():
    assert "<h1>Papers</h1>" in (text := answer("/papers", accept="text/html")[1]) and "<aside>" not in text
    assert "<script>alert" not in answer("/<script>alert", accept="text/html")[1]


def test_everything_else_is_as_it_was():
    assert answer("/", accept="*/*")[1] == PAGE
    assert answer("/file.html", accept="text/html")[1] == PAGE
    assert answer("/text", accept="text/html")[1] == "</head>"
