"""What every step stands on, and nothing of any step."""
