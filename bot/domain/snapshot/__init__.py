"""A session as a file other programs can read: gwt's keys and spellings verbatim, ours beside them. Pure.

Where gwt has fewer states than we have, its `status` is a projection and our `state` stands beside it. On reading,
ours wins; a file without ours (written by gwt itself) is completed from what it says.
"""

from bot.domain.snapshot.form import NewerSchemaError
from bot.domain.snapshot.reading import restore
from bot.domain.snapshot.writing import export

__all__ = ["NewerSchemaError", "export", "restore"]
