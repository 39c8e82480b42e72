"""The chat port for Matrix, built on matrix-nio. Start reading at chat.py."""
