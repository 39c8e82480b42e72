"""Questions about what a request leaves open, and their answers."""
