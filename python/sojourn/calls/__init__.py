"""What scripts and notebooks call: commands as functions, and results with the commands on results as their methods."""
