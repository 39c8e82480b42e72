"""The command line: settings become adapters, adapters become a desk. With __main__, the only place that knows adapters by name."""

from __future__ import annotations
