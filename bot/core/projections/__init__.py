"""What is derived from decided events and owns nothing."""
