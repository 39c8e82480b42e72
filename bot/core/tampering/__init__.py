"""Finds signs in a diff that tests were made to pass; `signs` is where to begin."""
