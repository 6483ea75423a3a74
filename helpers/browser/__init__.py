"""Tests in a real browser, run by `make browser`: decks offline, and lectures in JupyterLab."""
