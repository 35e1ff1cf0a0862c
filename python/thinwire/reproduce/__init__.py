"""Published figures of the work that this library stands on, beside its own."""
