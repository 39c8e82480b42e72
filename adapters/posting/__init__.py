"""What chats need to post well: where their cards stand, which threads they began, whose turn it is."""

from adapters.posting.ledger import Ledger, Placed
from adapters.posting.roots import opened, root_of, thread_of
from adapters.posting.turns import Turns
from adapters.posting.urgency import Urgency, urgency

__all__ = ["Ledger", "Placed", "Turns", "Urgency", "opened", "root_of", "thread_of", "urgency"]
