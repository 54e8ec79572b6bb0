"""Runs on a real Linux kernel: User Mode Linux in virtual time.

A run is translated into a plan (``plan``): a network of namespaces (``topology``) with the kernel's queue disciplines
(``disciplines``), stacks (``stack``) and flows (``traffic``). A kernel of its own carries it out (``machine``), and what its
guest wrote becomes frames (``reading``). What Linux cannot do raises ``Impossible`` in any of these, and is refused (``limits``).
"""
