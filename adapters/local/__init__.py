"""The chat for the user of this machine: the console in this process, and others over a local socket."""
