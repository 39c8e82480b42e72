"""A repository in eight languages, and what honest and dishonest people make of its tests."""
