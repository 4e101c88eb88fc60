"""Tests of pages/hospitals/who_sees_what."""
