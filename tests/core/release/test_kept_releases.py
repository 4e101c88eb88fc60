"""Releases that were not downloaded: kept for whoever has the token, for 30 days, within limits."""

import os
import secrets
import time

import pytest

from dppca_core.release import kept_releases
from dppca_core.release.kept_releases import KeptReleases

# Fixed, as each process names the same tests by them.
TOKEN, OTHER = "Bt_1a1CfI_RanYmkyB4s1f27Jm17mrGPVxWUq1ryDeA", "dF8x0Vq3hZkP2sTnYw6uLbCeJgRi9mO4aXS7NQUv1EI"
PLAIN = {"document": {"features": ["Zanzibar-7731"], "components": [[61.62636465, -0.0]]}}


@pytest.fixture
def store(tmp_path):
    return KeptReleases(tmp_path / "state" / "kept")


def files(tmp_path):
    return sorted((tmp_path / "state" / "kept").glob("*.kept"))


def test_only_the_token_opens_it_and_nothing_on_the_disk_tells_what_it_is(store, tmp_path):
    assert store.opened(TOKEN) == []
    assert store.keep(TOKEN, "ab", PLAIN) and store.keep(TOKEN, "../../etc/cd", {"second": 2})
    assert store.keep(TOKEN, "ab", PLAIN)  # again: once
    again = KeptReleases(tmp_path / "state" / "kept")  # a server started anew
    assert sorted(map(str, again.opened(TOKEN))) == sorted(map(str, [PLAIN, {"second": 2}]))
    held = b"".join(path.read_bytes() + path.name.encode() for path in files(tmp_path))
    for secret in (b"Zanzibar", b"61.62", TOKEN.encode(), TOKEN[:12].encode()):
        assert secret not in held
    inside = list((tmp_path / "state").rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in inside} == {0o700, 0o600}
    store.drop(OTHER, "ab")
    store.drop(TOKEN, "ab")
    assert again.opened(TOKEN) == [{"second": 2}]


@pytest.mark.parametrize(
    "token", ["", OTHER, TOKEN[:-1], TOKEN * 9, "../" + TOKEN, "*", "\ud800", "None", "\0", TOKEN.lower()]
)
def test_another_token_opens_nothing(store, token):
    store.keep(TOKEN, "ab", PLAIN)
    assert token or not store.keep(token, "ab", PLAIN)
    assert store.opened(token) == [] and store.opened(TOKEN) == [PLAIN]


DAMAGES = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[:-1],
    "a bit turned": lambda data: bytes([data[0] ^ 1]) + data[1:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_copy_or_one_of_another_name_opens_nothing(store, tmp_path, damage):
    store.keep(TOKEN, "ab", PLAIN)
    store.keep(TOKEN, "cd", {"second": 2})
    first = next(path for path in files(tmp_path) if path == store._path(TOKEN, "ab"))
    data = first.read_bytes()
    first.write_bytes(damage(data))
    assert store.opened(TOKEN) == [{"second": 2}]
    first.unlink()
    store._path(TOKEN, "ef").write_bytes(data)
    assert store.opened(TOKEN) == [{"second": 2}]


def test_a_copy_that_is_dropped_meanwhile_hides_no_other_and_takes_no_room(store, monkeypatch):
    listed = store._tidied

    def dropped():
        files = listed()
        store.drop(TOKEN, "ab")
        return files

    store.keep(TOKEN, "ab", PLAIN)
    store.keep(TOKEN, "cd", {"second": 2})
    monkeypatch.setattr(store, "_tidied", dropped)
    assert store.opened(TOKEN) == [{"second": 2}]
    store.keep(TOKEN, "ab", PLAIN)
    assert store.keep(OTHER, "ef", PLAIN)


def test_it_is_forgotten_after_thirty_days(store, tmp_path):
    store.keep(TOKEN, "ab", PLAIN)
    day = 24 * 3600

    def later(days):
        return KeptReleases(tmp_path / "state" / "kept", lambda: time.time() + days * day)

    assert later(29).opened(OTHER) == [] and later(29).opened(TOKEN) == [PLAIN]
    assert later(31).opened(OTHER) == [] and files(tmp_path) == []


def test_limits_refuse_and_drop_nothing(store, tmp_path, monkeypatch):
    big = {"random": secrets.token_hex(50_000)}
    assert all(store.keep(TOKEN, f"{i}", {"i": i}) for i in range(kept_releases.MOST_OF_A_TOKEN))
    assert not store.keep(TOKEN, "one more", PLAIN) and store.keep(OTHER, "ab", PLAIN)
    monkeypatch.setattr(kept_releases, "MOST_BYTES", 40_000)
    assert not store.keep(OTHER, "cd", big)
    monkeypatch.setattr(kept_releases, "MOST_BYTES", 2**20)
    monkeypatch.setattr(kept_releases, "MOST_TOGETHER", 100_000)
    assert store.keep(OTHER, "cd", big) and not store.keep(OTHER, "ef", big)
    assert len(store.opened(TOKEN)) == kept_releases.MOST_OF_A_TOKEN and len(store.opened(OTHER)) == 2


@pytest.mark.parametrize("how", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_look_into_is_not_used(tmp_path, how):
    """In a shared /tmp anybody can make it first."""
    folder = tmp_path / "kept"
    if how == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    elif how == "a file":
        folder.touch(mode=0o600)
    else:
        folder.mkdir()
        folder.chmod(0o755)
    assert not KeptReleases(folder).keep(TOKEN, "ab", PLAIN) and KeptReleases(folder).opened(TOKEN) == []
    assert not list(tmp_path.rglob("*.kept"))


def test_the_folder_is_its_users_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert kept_releases.default_folder() == tmp_path / "dppca" / "kept"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert kept_releases.default_folder().name == f"dppca-kept-{os.getuid()}"
