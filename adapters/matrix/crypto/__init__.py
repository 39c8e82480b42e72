"""Encrypted rooms: the keys of the bot's device, encryption of outgoing and decryption of incoming messages."""
