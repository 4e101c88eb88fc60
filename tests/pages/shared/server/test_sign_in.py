"""Test that a server which asks for sign-in shows nothing before, and that any other asks nobody."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from pages.shared.server import sign_in

MENU = Path(__file__).resolve().parents[4] / "pages" / "menu.py"
AUTH = """[auth]
redirect_uri = "http://127.0.0.1:8501/oauth2callback"
cookie_secret = "{}"
client_id = "dashboard"
client_secret = "{}"
server_metadata_url = "https://sign-in.example/.well-known/openid-configuration"
"""


@pytest.fixture
def secrets(tmp_path):
    file, before = tmp_path / "secrets.toml", st.get_option("secrets.files")
    config.set_option("secrets.files", [str(file)])
    st.secrets._reset()
    yield file
    config.set_option("secrets.files", before)
    st.secrets._reset()


def shown() -> AppTest:
    return AppTest.from_file(str(MENU), default_timeout=60).run()


def test_a_stranger_sees_nothing_but_the_way_in(secrets, monkeypatch):
    monkeypatch.setattr(sign_in, "find_spec", lambda name: name)  # as if Authlib were installed
    secrets.write_text(AUTH.format("a" * 32, "b" * 32))
    page = shown()
    assert not page.exception
    assert [button.label for button in page.button] == ["Sign in"]
    assert not page.select_slider and not page.sidebar.children


def test_who_has_signed_in_sees_the_page_and_once_sign_in_is_off_so_does_everybody(secrets, monkeypatch):
    secrets.write_text(AUTH.format("a" * 32, "b" * 32))
    with monkeypatch.context() as signed_in:
        signed_in.setattr(st, "user", SimpleNamespace(is_logged_in=True, sub="1", iss="a"))
        page = shown()
        assert not page.exception and page.select_slider and sign_in.required()
    secrets.unlink()
    st.secrets._reset()
    page = shown()
    assert not page.exception and page.select_slider and not sign_in.required()


def test_without_what_it_takes_nobody_is_let_in_and_the_page_says_so(secrets, monkeypatch):
    monkeypatch.setattr(sign_in, "find_spec", lambda name: None)
    secrets.write_text(AUTH.format("a" * 32, "b" * 32))
    page = shown()
    assert not page.exception and not page.select_slider and not page.button
    assert "not installed" in page.error[0].value


def test_nobody_is_let_in_by_secrets_that_cannot_be_read(secrets):
    secrets.write_text("[auth\n")
    page = shown()
    assert not page.exception and not page.select_slider
    assert "nobody is let in" in page.error[0].value


@pytest.mark.parametrize("content", [None, "[other]\nkey = 1\n"])
def test_without_that_section_nobody_is_asked(secrets, content):
    if content is not None:
        secrets.write_text(content)
    page = shown()
    assert not page.exception and page.select_slider
