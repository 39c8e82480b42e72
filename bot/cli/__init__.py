"""The command line: builds the adapters and the desk from the settings.

With `__main__`, the only place that knows adapters by name.
"""

from __future__ import annotations
