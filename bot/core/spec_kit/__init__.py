"""Writes, reads, compares and checks Spec Kit's documents: spec, plan and tasks. Text in, text out."""
