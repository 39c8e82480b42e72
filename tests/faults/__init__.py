"""The real bot on real tmux, git, sockets and disks, and what may befall it. `python -m tests.faults` does all of it."""
