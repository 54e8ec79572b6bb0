"""A run as it happens, for people: how fast it goes, what has happened lately, and how that is shown."""
