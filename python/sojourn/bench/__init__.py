"""The benchmark: speed, instructions and memory, each with its target.

A part measures one thing and is a module of its own. ``parts.py`` lists them, ``report.py`` formats their results.
"""
