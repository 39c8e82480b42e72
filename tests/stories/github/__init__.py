"""Stories of pull requests, on a GitHub that is played on the loopback: real git on both sides, real programs, real agents' panes."""
