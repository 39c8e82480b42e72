"""The end of a job's log: where it failed. Its rule: little is kept however long it is, and no token goes where it lies."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import IO
from urllib.parse import urlsplit

from adapters.github.access import Address
from adapters.github.problem import not_understood
from bot.errors import Unavailable

_READ = 32 * 1024 * 1024
_KEPT = 256 * 1024
_PIECE = 64 * 1024
_STAMP = re.compile(r"^\ufeff?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,20}Z ?", re.MULTILINE)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_FAILED = "##[error]"


def read_log(place: str, address: Address, seconds: float) -> str:
    """The end of what lies there. GitHub's answer names the place, with a signature in it. Blocks."""
    scheme = urlsplit(place).scheme
    if scheme != "https" and not (scheme == "http" and address.plain):
        raise not_understood("the log lies at an address that is not encrypted")
    # the address is GitHub's own word, and no header of ours goes with the request
    request = urllib.request.Request(place, headers={"User-Agent": "gwt-bot"})  # noqa: S310
    try:
        with _no_further().open(request, timeout=seconds) as answer:
            return _end(answer.read)
    except (OSError, HTTPException, ValueError) as error:
        # the address itself opens the log for a while, so it is not told
        raise Unavailable(f"the log cannot be read ({type(error).__name__})") from None


def telling(log: str, most: int) -> str:
    """The lines up to the last failure, without times and colours; what cleans up after it tells nothing."""
    text = _STAMP.sub("", _ESCAPES.sub("", log.replace("\r\n", "\n")))
    lines = text.splitlines()
    failed = [number for number, line in enumerate(lines) if _FAILED in line]
    if failed:
        lines = lines[: failed[-1] + 1]
    shown = "\n".join(lines).strip()
    return shown if len(shown) <= most else "…" + shown[-(most - 1) :]


def _end(read: Callable[[int], bytes]) -> str:
    kept, taken = bytearray(), 0
    while taken < _READ and (piece := read(_PIECE)):
        taken += len(piece)
        kept += piece
        del kept[:-_KEPT]
    return kept.decode("utf-8", "replace")


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: object, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> None:
        return None


def _no_further() -> urllib.request.OpenerDirector:
    """Opens http and https only, and goes where it was sent, no further."""
    return urllib.request.build_opener(_Stays())
