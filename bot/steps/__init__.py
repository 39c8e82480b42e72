"""The steps a user sees, one package each. Read their rules.py to learn what the bot does."""
