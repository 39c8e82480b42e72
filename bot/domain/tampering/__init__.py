"""Signs in a diff that somebody made the tests pass instead of the code: a person looks at them before anything goes on.

Only what the diff shows counts, never what anybody says of it; honest work on tests is to stay without a sign.
"""

from bot.domain.tampering.explained import explained
from bot.domain.tampering.looking import flags
from bot.domain.tampering.signs import Flag, Sign
from bot.domain.tampering.unplanned import unplanned

__all__ = ["Flag", "Sign", "explained", "flags", "unplanned"]
