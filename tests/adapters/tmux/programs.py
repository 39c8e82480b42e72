"""Programs that ask, as agents do: in raw mode, drawing their screen anew; and they write down every key they get."""

from __future__ import annotations

import sys

from bot.core.runs import Launch

# argv: the way it is drawn, then for each question its title and options, separated by «|».
_MENUS = r"""
import os, sys, termios, tty
way, questions = sys.argv[1], [one.split('|') for one in sys.argv[2:]]
tty.setraw(0, termios.TCSAFLUSH)
keys = open(os.environ['GWT_SPOOL'] + '/keys', 'ab', buffering=0)
put = lambda text: os.write(1, text.replace('\n', '\r\n').encode())
def draw(title, options, at):
    put('\x1b[?25l\x1b[H\x1b[2J\x1b[3J' if way != 'plain' else '\n')
    put(' Shell command\n\n  touch x\n\n ' + title + '\n')
    for index, option in enumerate(options):
        number = '%d. ' % (index + 1) if way != 'arrows' else ''
        put(' %s %s%s\n' % ('\u276f' if index == at else ' ', number, option))
    put('\n Enter to confirm \u00b7 Esc to cancel\n')
if way == 'screen':
    put('\x1b[?1049h')
for title, *options in questions:
    at, chosen = 0, None
    while chosen is None:
        draw(title, options, at)
        key = os.read(0, 100)
        keys.write(key + b'\n')
        if way == 'deaf':
            continue
        if way != 'arrows' and key.isdigit() and 0 < int(key) <= len(options):
            chosen = int(key) - 1
        elif key == b'\x1b[B':
            at = min(at + 1, len(options) - 1)
        elif key == b'\x1b[A':
            at = max(at - 1, 0)
        elif key == b'\r':
            chosen = at
    put('\x1b[H\x1b[2J')
    open(os.environ['GWT_SPOOL'] + '/chosen', 'a').write(options[chosen] + '\n')
put('\x1b[?1049l\x1b[?25hworking\n' if way == 'screen' else 'working\n')
import time
time.sleep(300)
"""


def menus(way: str, *questions: str) -> Launch:
    """`way`: screen (the alternate one), plain (below what was printed), arrows (without numbers), deaf."""
    return Launch(argv=(sys.executable, "-S", "-c", _MENUS, way, *questions))


def shell(script: str) -> Launch:
    return Launch(argv=("sh", "-c", script))
