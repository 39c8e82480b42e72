"""What people say besides."""
