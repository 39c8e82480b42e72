"""What keeps a task from going on, and what users decide about it."""
