"""Spec Kit's documents: how spec, plan and tasks are written, read, compared and checked. Text in, text out."""
