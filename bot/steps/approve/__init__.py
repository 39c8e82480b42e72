"""Users approve a plan, or ask for changes."""
