"""The chat port on Matrix, with matrix-nio. Begin with chat.py."""
