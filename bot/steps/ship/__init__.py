"""Finished work becomes a pull request."""
