"""Pull requests on GitHub: found, opened, looked at, merged; branches pushed from a clean environment."""

from adapters.github.api import Access
from adapters.github.forge import GitHub

__all__ = ["Access", "GitHub"]
