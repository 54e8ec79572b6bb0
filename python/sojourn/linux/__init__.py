"""Linux kernels to run scenarios on: User Mode Linux in virtual time, built once by the user and kept in a cache.

The kernel and the programs of its guest come from the user's machine; nothing of them is part of Sojourn. What Sojourn adds is in
``kernel`` (a configuration) and ``guest`` (the guest's first process and the program that makes flows and measures).
"""
