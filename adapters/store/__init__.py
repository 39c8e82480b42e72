"""Storage of records: their location, who may use them, and their privacy.

Names are imported on access, so that a caller that needs only the lock of a home does not import the session models.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.store.audit import AuditFile
    from adapters.store.disk import InstanceLock
    from adapters.store.evidence import EvidenceFiles
    from adapters.store.state_files import BindingsFile, QuestionsFile, ReplFile
    from adapters.store.store import JournalStore
    from adapters.store.task_logs import TaskLogFiles

_MODULES = {
    "AuditFile": "audit",
    "BindingsFile": "state_files",
    "QuestionsFile": "state_files",
    "EvidenceFiles": "evidence",
    "InstanceLock": "disk",
    "JournalStore": "store",
    "ReplFile": "state_files",
    "TaskLogFiles": "task_logs",
}
__all__ = [
    "AuditFile",
    "BindingsFile",
    "EvidenceFiles",
    "InstanceLock",
    "JournalStore",
    "QuestionsFile",
    "ReplFile",
    "TaskLogFiles",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
