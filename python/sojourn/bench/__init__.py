"""The benchmark: speed, instructions, start-up time and memory, each with its target.

A part measures one thing and is a module of its own. ``parts.py`` lists them, ``report.py`` formats their results.
"""
