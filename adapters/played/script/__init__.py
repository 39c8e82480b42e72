"""What is played, word for word: a request, its questions, its documents, its three tasks and the work on them."""
