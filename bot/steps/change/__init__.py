"""Users change the request while tasks run."""
