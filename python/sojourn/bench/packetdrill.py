"""packetdrill: how many scripts a second are carried out."""

import time

from sojourn import _engine
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Target

#: Scripts carried out one after the other.
SCRIPTS = 2000

#: A transfer of a hundred segments with an acknowledgement for each two: longer than most scripts of google's collection.
SCRIPT = """
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 60000 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 60000
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 100000) = 100000
""" + "".join(f"+.01 < . 1:1(0) ack {1 + 2000 * count} win 60000\n" for count in range(1, 51))


def measure(extent: Extent, notify: Notify) -> Part:
    """Times scripts, from their text to their verdict, in one process."""
    notify("packetdrill")
    count = max(2, round(SCRIPTS * min(1.0, extent.scale)))
    began = time.process_time()
    verdicts = {_engine.packetdrill(SCRIPT)["verdict"] for _ in range(count)}
    seconds = time.process_time() - began
    assert verdicts == {"passed"}, verdicts
    return Part(
        title="packetdrill: scripts of 100 segments",
        method=f"{count} scripts in one process, from their text to their verdict.",
        measurements=[Measurement("scripts for each CPU second", count / seconds, "", Target("at least", 500.0))],
        rows=[{"scripts": count, "events": SCRIPT.count("\n") - 1, "cpu_milliseconds_a_script": seconds / count * 1e3}],
    )
