"""Watching a run: its pace, its recent values, and how they are shown."""
