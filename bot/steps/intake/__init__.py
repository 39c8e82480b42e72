"""The first message becomes a request that is understood."""
