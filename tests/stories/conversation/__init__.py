"""What is said to the bot and what is expected of it, once for every chat: each story is told in words, labels and facts.

A chat has a person who can talk, press and see (`Talker`). A story never depends on how long anything takes: agents that
must be seen at work stand still (`Hold`) until it has been seen.
"""

from __future__ import annotations

from tests.stories.conversation.afterwards import goes_on_after_the_end
from tests.stories.conversation.planning import (
    answers_in_own_words,
    asks_for_changes_twice,
    decides_anew,
    only_wants_the_plan,
)
from tests.stories.conversation.said import ENGLISH, JAPANESE, Tongue
from tests.stories.conversation.scene import LOOK_EVERY, PATIENCE, Scene, Talker
from tests.stories.conversation.working import (
    changes_its_mind_while_three_work,
    works_through_an_outage,
)

__all__ = [
    "ENGLISH",
    "JAPANESE",
    "LOOK_EVERY",
    "PATIENCE",
    "Scene",
    "Talker",
    "Tongue",
    "answers_in_own_words",
    "asks_for_changes_twice",
    "changes_its_mind_while_three_work",
    "decides_anew",
    "goes_on_after_the_end",
    "only_wants_the_plan",
    "works_through_an_outage",
]
