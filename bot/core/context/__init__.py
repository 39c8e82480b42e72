"""Finds what a request is about in a repository: which files, which definitions, which tests.

Pure and deterministic: it is given paths, definition names and the history, and ranks them. The
reading is done by `adapters/git/context.py`. The weights were measured on commits of public
repositories; `benchmarks/context.py` measures them again.
"""
