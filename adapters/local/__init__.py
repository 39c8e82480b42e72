"""The chat for whoever sits at this machine: the console in this process, and others over a local socket."""
