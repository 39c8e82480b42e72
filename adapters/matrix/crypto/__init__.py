"""Encrypted rooms: the keys of the bot's device, encryption on the way out, decryption on the way in."""
