"""Test that a server keeps house again and again, also after a step that has failed."""

import asyncio

import pytest

from pages.shared.server import housekeeping
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize("fails", ["close_left", "give_up"])
def test_sessions_and_caches_are_looked_after_whatever_fails(monkeypatch, caplog, fails):
    done = {"close_left": 0, "give_up": 0}

    def step(name: str) -> None:
        done[name] += 1
        if name == fails:
            raise ValueError("a secret")

    monkeypatch.setattr(housekeeping, "_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(housekeeping.uploads, "close_left", lambda: step("close_left"))
    monkeypatch.setattr(housekeeping.unused, "give_up", lambda: step("give_up"))

    async def keep() -> None:
        keeping = asyncio.create_task(housekeeping.keep_house())
        while min(done.values()) < 3:
            await asyncio.sleep(0)
        keeping.cancel()

    asyncio.run(asyncio.wait_for(keep(), PATIENCE_SECONDS))
    assert "housekeeping: ValueError" in caplog.text and "secret" not in caplog.text
