"""What looks add up to: nothing is told of a screen that is just being drawn, nothing twice."""

from __future__ import annotations

from adapters.tmux.dialog_watcher import Follower, ScreenLook, ScreenPace
from adapters.tmux.dialogs import Hint
from bot.core.runs import Dialog, DialogKind

ONE = Dialog(id="1", kind=DialogKind.YES_NO, title="One?")
OTHER = Dialog(id="2", kind=DialogKind.YES_NO, title="Other?")
HINT = Hint("1.json", "Something is asked")


class Hearer:
    """Shows looks to a follower, and writes down what it tells."""

    def __init__(self) -> None:
        self.now = 0.0
        self.follower = Follower(ScreenPace(no_options=5.0), lambda: self.now)

    def told(self, *looks: ScreenLook) -> list[str | None]:
        news: list[str | None] = []
        for look in looks:
            self.follower.sees(look)
            if self.follower.has_news:
                dialog = self.follower.news()
                news.append(dialog.title if dialog else None)
        return news


def test_two_looks_have_to_agree() -> None:
    hearer = Hearer()
    assert (
        hearer.told(ScreenLook(dialog=ONE), ScreenLook(dialog=OTHER), ScreenLook(dialog=ONE)) == []
    )
    assert hearer.follower.hurries
    assert hearer.told(ScreenLook(dialog=ONE)) == ["One?"]
    assert not hearer.follower.hurries


def test_each_change_is_told_once() -> None:
    looks = (ScreenLook(dialog=ONE),) * 3 + (ScreenLook(dialog=OTHER),) * 3 + (ScreenLook(),) * 3
    assert Hearer().told(*looks) == ["One?", "Other?", None]


def test_a_screen_that_flickers_is_not_told_of() -> None:
    hearer = Hearer()
    assert hearer.told(ScreenLook(dialog=ONE), ScreenLook(dialog=ONE)) == ["One?"]
    assert hearer.told(ScreenLook(), ScreenLook(dialog=ONE), ScreenLook(dialog=ONE)) == []


def test_a_hooks_words_have_to_do_when_no_option_appears_for_long() -> None:
    hearer = Hearer()
    blank = ScreenLook(pane_id="%1", text="working", hint=HINT)
    assert hearer.told(blank, blank) == []
    assert hearer.follower.hurries
    hearer.now = 5.0
    assert hearer.told(blank) == ["Something is asked"]
    assert hearer.told(blank, blank) == []
    assert not hearer.follower.hurries


def test_a_hook_that_is_neither_seen_nor_quiet_for_long_has_served() -> None:
    hearer = Hearer()
    served = False
    while not served:
        served = hearer.follower.sees(ScreenLook(pane_id="%1", text=f"{hearer.now}", hint=HINT))
        hearer.now += 0.25
    assert hearer.now < 60
    assert not hearer.follower.has_news


def test_an_agent_that_goes_on_printing_asks_nothing_whatever_its_hook_said() -> None:
    hearer = Hearer()
    for second in range(20):
        hearer.now = float(second)
        assert hearer.told(ScreenLook(pane_id="%1", text=f"frame {second}", hint=HINT)) == []


def test_what_a_hook_said_is_over_when_the_screen_goes_on() -> None:
    hearer = Hearer()
    blank = ScreenLook(pane_id="%1", text="blank", hint=HINT)
    hearer.told(blank, blank)
    hearer.now = 5.0
    assert hearer.told(blank) == ["Something is asked"]
    assert hearer.follower.sees(ScreenLook(pane_id="%1", text="working", hint=HINT))
    assert hearer.follower.has_news
    assert hearer.follower.news() is None


def test_a_question_on_the_screen_goes_before_a_hooks_words() -> None:
    hearer = Hearer()
    seen = ScreenLook(pane_id="%1", text="One?", hint=HINT, dialog=ONE)
    assert hearer.told(seen) == []
    assert hearer.follower.sees(seen)  # the hook has served
    assert hearer.told() == []
    assert hearer.follower.has_news
