"""Test that a connection which breaks within a run loses what the run sent, and nothing else."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import SMALL, go_to

pytestmark = pytest.mark.browser

# Once the server runs another page than the first, the browser misses the messages that `misses(i)` names,
# from 0.
# `runs` counts the runs of a whole page that the server has said to have ended, missed or not.
DEAF = """
// The fields of a message (ForwardMsg) by number: numbers, and bytes of what is nested.
function fields(bytes) {
  let at = 0;
  const number = () => {
    for (let value = 0, place = 1; ; place *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * place;
      if (byte < 128) return value;
    }
  };
  const read = {};
  while (at < bytes.length) {
    const tag = number(), value = number(), nested = tag % 8 === 2;
    read[Math.floor(tag / 8)] = nested ? bytes.subarray(at, at + value) : value;
    if (nested) at += value;
  }
  return read;
}
// 6, script_finished, is 0 when a whole run went well; 9 of 4, new_session, names the page of a run.
const ENDED = 6, RUN = 4, PAGE = 9;
const Socket = window.WebSocket;
Object.assign(window, { misses: () => false, runs: 0 });
let first, current, since = 0;
window.WebSocket = function (...given) {
  const socket = new Socket(...given);
  socket.addEventListener('message', (event) => {
    window.latest = performance.now();
    const message = fields(new Uint8Array(event.data));
    window.runs += message[ENDED] === 0;
    if (message[RUN]) current = String(fields(message[RUN])[PAGE]);
    first ??= current;
    if (current !== first && window.misses(since++)) event.stopImmediatePropagation();
  });
  return socket;
};
Object.assign(window.WebSocket, { prototype: Socket.prototype, OPEN: Socket.OPEN, CLOSED: Socket.CLOSED });
Object.assign(window.WebSocket, { CONNECTING: Socket.CONNECTING, CLOSING: Socket.CLOSING });
"""
# What the server says arrives `late` milliseconds after it has come, as from far away.
FAR = """
window.late = 0;
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (kind, listener, ...more) {
  const later = (event) => setTimeout(() => listener(event), window.late);
  listen.call(this, kind, kind === 'message' ? later : listener, ...more);
};
"""


def answered(page: Page) -> None:
    """Wait until a run of the page has ended since the last time, and nothing more comes for a while."""
    page.wait_for_function("window.runs > (window.awaited ?? 0) && performance.now() - window.latest > 1500")
    page.evaluate("window.awaited = window.runs")


def leaving_bounds(watched, address, misses: str) -> Page:
    """Return a page from which a visitor goes on to the methods, missing some of that page's first run."""
    visitor = watched()
    visitor.page.add_init_script(DEAF)
    page = visitor.open(f"{address}bounds?{SMALL}").page
    given = f"misses: {misses}, awaited: window.runs, former: true"
    page.evaluate(f"() => {{ Object.assign(window, {{ {given} }}) }}")
    go_to(page, "Methods")
    return page


def test_a_page_whose_first_run_was_lost_keeps_every_setting(watched, address):
    # It hears that there is a page, not what is on it.
    page = leaving_bounds(watched, address, misses="(i) => i > 0")
    answered(page)
    page.evaluate("() => { window.misses = () => false }")
    for _ in range(2):  # the second tells the server what the widgets began at
        page.get_by_role("slider", name="Privacy loss").first.press("ArrowRight")
        answered(page)
    asked = page.evaluate("new URLSearchParams(location.search).toString().split('&').sort().join('&')")
    assert asked == "&".join(sorted(["preset=large-study", "eps=1.6", *SMALL.split("&")]))


def test_a_page_that_cannot_be_drawn_any_more_opens_anew(watched, address):
    page = leaving_bounds(watched, address, misses="(i) => i % 2")
    page.wait_for_function("window.former === undefined")  # of a page that was loaded since
    page.get_by_text("where all trust one place").wait_for()
    page.wait_for_url(f"**/methods?*{SMALL.split('&')[0]}*")


def test_moves_before_the_last_one_is_answered_are_kept_and_what_follows_them_is_no_move(watched, address):
    visitor = watched()
    visitor.page.add_init_script(FAR)
    page = visitor.open(f"{address}?preset=large-study&repeats=1&d=30&k=2&s=6&shat=10").page
    visitor.settle()
    page.evaluate("() => { window.late = 400 }")
    patients = page.get_by_role("slider", name="Patients in total")
    for _ in range(4):  # up to 2,000,000, where delta follows
        patients.press("ArrowRight")
    page.wait_for_url("**&n=2000000&**")
    page.wait_for_timeout(1000)  # what the browser reports of delta has come by then
    assert "delta=" not in page.url
    page.get_by_role("combobox", name="Start from").click()
    page.get_by_role("option", name="Rare disease").click()
    page.get_by_role("slider", name="Privacy loss").press("ArrowRight")
    page.wait_for_url("**?preset=rare-disease&eps=1.25")
    page.wait_for_timeout(1000)
    assert page.url.endswith("?preset=rare-disease&eps=1.25")
    assert visitor.errors == []
