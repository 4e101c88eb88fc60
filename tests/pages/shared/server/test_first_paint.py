"""The style sheet is in the head of what a browser opens, and in nothing else."""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.shared.server.first_paint import FirstPaint

PAGE = f"<html><head><title>ours</title></head><body>{'patients ' * 200}</body></html>"
SERVED = TestClient(
    Starlette(
        routes=[
            Route("/", lambda request: HTMLResponse(PAGE, headers={"etag": '"plain"'})),
            Route("/text", lambda request: PlainTextResponse("</head>")),
        ],
        middleware=[Middleware(FirstPaint), Middleware(GZipMiddleware, minimum_size=10)],
    )
)


def test_a_page_has_the_style_sheet_before_anything_is_drawn():
    answer = SERVED.get("/", headers={"accept": "text/html", "accept-encoding": "gzip"})
    head = answer.text.split("</head>")[0]
    assert "stMainBlockContainer" in head and answer.text.endswith(PAGE.split("</head>")[1])
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers  # or a browser would keep the page of another style sheet


def test_everything_else_is_as_it_was():
    assert SERVED.get("/", headers={"accept": "*/*"}).text == PAGE
    assert SERVED.get("/text", headers={"accept": "text/html"}).text == "</head>"
