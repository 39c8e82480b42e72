"""Commands and buttons that are legal at any time."""
