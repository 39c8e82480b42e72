"""Tells what people write from what is generated, tests, data and secrets, by the path of a file alone."""

from __future__ import annotations

import re
from functools import lru_cache

from adapters.git.projects import is_test

_DOCUMENTS = frozenset(
    [
        "toml",
        "yaml",
        "yml",
        "json",
        "md",
        "rst",
        "txt",
        "html",
        "htm",
        "css",
        "scss",
        "sass",
        "less",
    ]
)
_SOURCE_SUFFIXES = """
py pyi pyx rs go js mjs cjs ts mts cts tsx jsx java kt kts scala c h cc cpp cxx hpp hh hxx cs fs rb
php swift vue svelte astro ex exs erl hrl lua sh bash zsh fish ps1 pl pm sql m mm dart hs ml mli clj
cljs groovy gradle graphql proto tf zig nim jl r v sv vhd pas d cu el lisp scm rkt sol
"""
CODE = frozenset(_SOURCE_SUFFIXES.split())
_WITH_NAMES = CODE | {"html", "htm"}

_TEST_FOLDERS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing|testdata|fixtures|__snapshots__|cypress|e2e)/"
)
_TEST_NAMES = re.compile(
    r"^(?:test_.*|conftest\.py)$|(?:[._-](?:test|spec)|Tests?|TestCase|IT)\.\w+$", re.DOTALL
)
_GENERATED_FOLDERS = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|dist|build|\.git|\.worktrees|specs)/"
)
_GENERATED_NAMES = re.compile(
    r"^(?:package-lock\.json|pnpm-lock\.yaml|composer\.lock)$"
    r"|\.min\.(?:js|css)$|[._]pb2?(?:_grpc)?\.\w+$|\.(?:snap|lock)$"
)
_SECRETS = re.compile(
    r"^(?:\.env.*|\.netrc|\.npmrc|\.pypirc|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx)"
    r"|.*(?:secret|credential).*\.(?:json|ya?ml|toml|txt))$",
    re.IGNORECASE | re.DOTALL,
)


def is_source(path: str) -> bool:
    """Whether a file may be what a request is about: text that people write, and no test."""
    folder, _, name = path.rpartition("/")
    return _may_be_source(name) and not (_of_tests(folder) or _generated(folder))


def is_code(path: str) -> bool:
    return _suffix(path) in CODE


def is_document(path: str) -> bool:
    """Whether it is a document, a page or settings, if it is a source file."""
    return _suffix(path) in _DOCUMENTS


def defines_names(path: str) -> bool:
    """Whether definitions are searched in it, if it is a source file."""
    return _suffix(path) in _WITH_NAMES


def is_test_code(path: str) -> bool:
    if is_test(path):
        return True
    folder, _, name = path.rpartition("/")
    return is_code(name) and (_of_tests(folder) or bool(_TEST_NAMES.search(name)))


def is_secret(path: str) -> bool:
    """Whether a file is made to hold secrets: it is never shown."""
    return bool(_SECRETS.search(path.rpartition("/")[2]))


def _suffix(path: str) -> str:
    return path.rpartition(".")[2].lower()


# In large repositories most names and folders occur many times.


@lru_cache(maxsize=20_000)
def _may_be_source(name: str) -> bool:
    return _suffix(name) in CODE | _DOCUMENTS and not (
        _TEST_NAMES.search(name) or _GENERATED_NAMES.search(name) or is_secret(name)
    )


@lru_cache(maxsize=20_000)
def _of_tests(folder: str) -> bool:
    return bool(_TEST_FOLDERS.search(f"{folder}/"))


@lru_cache(maxsize=20_000)
def _generated(folder: str) -> bool:
    return bool(_GENERATED_FOLDERS.search(f"{folder}/"))
