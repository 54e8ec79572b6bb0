"""Suites of questions about a congestion control or a queue discipline, and the verdicts on their answers."""
