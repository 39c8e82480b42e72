"""The local web page: one more seat of the local chat, for a browser on this machine."""
