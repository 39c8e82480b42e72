"""The branches of a repository, from a chat."""
