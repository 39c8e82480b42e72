"""The steps a user sees, a folder for each. Read the rules to learn what the bot does."""
