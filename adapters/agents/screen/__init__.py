"""What stands between an agent CLI that prints events and its pane. Standard library only: it starts from its path alone."""
