"""What every chat over a network needs to post well: where its cards stand, and whose turn it is."""

from adapters.posting.ledger import Ledger, Placed
from adapters.posting.turns import Turns
from adapters.posting.urgency import Urgency, urgency

__all__ = ["Ledger", "Placed", "Turns", "Urgency", "urgency"]
