"""Pull requests on GitHub: find, open, read and merge them; push branches from a clean environment."""

from adapters.github.api import Access
from adapters.github.forge import GitHub

__all__ = ["Access", "GitHub"]
