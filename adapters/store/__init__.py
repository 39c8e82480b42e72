"""Where records live, who may use them, and how they are kept private."""

from adapters.store.audit import AuditFile
from adapters.store.disk import Disk, keep_private
from adapters.store.evidence import EvidenceFiles
from adapters.store.state_files import BindingsFile, InstanceLock, ReplFile
from adapters.store.store import JournalStore
from adapters.store.task_logs import TaskLogFiles

__all__ = [
    "AuditFile",
    "BindingsFile",
    "Disk",
    "EvidenceFiles",
    "InstanceLock",
    "JournalStore",
    "ReplFile",
    "TaskLogFiles",
    "keep_private",
]
