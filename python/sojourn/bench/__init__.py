"""How fast the simulator is, and how much memory it takes: figures, each beside the target it should reach.

A part measures one thing and is a module of its own; ``parts.py`` names them, ``report.py`` shows them and writes them down.
"""
