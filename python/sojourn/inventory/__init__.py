"""What there is, as tables: lists of each kind, and descriptions. Nothing heavy is imported, so that commands start fast."""
