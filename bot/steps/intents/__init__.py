"""Work that is written down and not started."""
