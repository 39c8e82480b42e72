"""The sandbox with real bubblewrap, real git and real tmux. Where bubblewrap cannot work these tests are skipped, and say so."""
