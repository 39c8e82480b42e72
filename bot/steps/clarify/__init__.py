"""What a request leaves open is asked and answered."""
