"""Views derived from decided events; they own no data."""
