"""People approve a plan, or ask for changes."""
