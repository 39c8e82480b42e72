"""Specification, implementation plan and tasks are written."""
