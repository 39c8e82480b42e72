"""Puts the program together: settings → adapters → desk. With __main__, the only place that knows adapters by name."""
