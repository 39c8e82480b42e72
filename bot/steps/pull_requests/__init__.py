"""Open pull requests are followed until they are merged or closed."""
