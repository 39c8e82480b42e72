"""Traces: what leaves the program, written down so that two versions of it can be compared.

    python -m tests.traces record DIR [--seeds 1000]     play everything, and keep a trace of each
    python -m tests.traces compare BEFORE AFTER          the first differences; 0: there are none, 1: there are

What is recorded: of each seed of the simulation (`schedules/`) what people do and what befalls the world, every call of a port with
its arguments, every card as it is laid out, and of every save what it changes: events that came and went, orders that came and went,
and the values of the session. Of each chat (`chats/`) and of GitHub (`github/`) every request that the real adapter sends for a
fixed list of cards and calls, and every event that comes in. Of journals that 0.1.0 has written (`journals/`), what they say once they
are read, and what the events in them lead to. Times are those of the simulated world, ids are numbered as they appear.

What is not: names of modules, classes and functions, where a value lies in the session, fields that have their default, answers of
ports (they follow from the world), log lines, how often the processor was used. A field, a port or a kind that was renamed on purpose
is named to `compare`: `--renamed brought=attachments`; what shall not be looked at: `--without saved`.

DIR holds a compressed file for each trace, a line of JSON for each thing that happened, and `digests.txt`.
"""
