"""``python -m sojourn``: the command line, where ``sojourn`` is not in the path."""

from sojourn.cli import main

if __name__ == "__main__":
    main()
