"""Where records live, who may use them, and how they are kept private."""

from adapters.store.disk import Disk, keep_private
from adapters.store.lock import InstanceLock
from adapters.store.store import JournalStore

__all__ = ["Disk", "InstanceLock", "JournalStore", "keep_private"]
