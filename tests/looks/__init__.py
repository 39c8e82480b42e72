"""How the bot looks: every card people meet, drawn as their client draws it. To be looked at, and held to the rules."""
