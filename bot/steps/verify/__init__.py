"""An agent's work is examined, tested and judged."""
