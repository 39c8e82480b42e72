"""The agent CLIs the bot can drive. Each CLI is only data (`clis.py`); `launch.py` has all the code that uses it."""
