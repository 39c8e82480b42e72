"""What keeps a task from going on, and what people decide about it."""
