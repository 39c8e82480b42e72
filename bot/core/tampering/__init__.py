"""Finds signs in a diff that tests were made to pass; start reading at `signs`."""
