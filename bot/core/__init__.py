"""What every step builds on; contains nothing of any single step."""
