"""Measures what the product promises about speed and memory, on a scratch database, one line a promise."""
