"""What an agent has done is looked at, tested and judged."""
