"""The program between an agent CLI that prints events and its pane.

Standard library only, because it is started by its path alone.
"""
