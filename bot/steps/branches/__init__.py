"""The branches of a repository, managed from a chat."""
