"""The room that drawing needs: the JavaScript engine in vl_convert ends the process if it cannot reserve it."""

import resource

from sojourn.errors import SojournError

#: Bytes of address space that V8 reserves when it starts, most of which it never uses.
LEAST_ADDRESS_SPACE = 80_000_000 * 1024


def check_room() -> None:
    """Checks that figures can be drawn, since V8 would end the process with a dump of its stack."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        shown = f"address space is limited to {limit // 1024} KiB (ulimit -v)"
        raise SojournError(f"{shown}; drawing needs {LEAST_ADDRESS_SPACE // 1024} KiB: lift the limit with ulimit -v unlimited")
