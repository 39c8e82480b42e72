"""How everything on this GitHub looks in the answers of its API."""
