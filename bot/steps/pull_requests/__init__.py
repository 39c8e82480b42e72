"""Open pull requests are watched until they are merged or closed."""
