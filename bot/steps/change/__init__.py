"""People change their mind while tasks run."""
