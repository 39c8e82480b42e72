"""The agent CLIs the bot can drive. An agent CLI is data (`clis.py`); `launch.py` is all that is done with it."""
