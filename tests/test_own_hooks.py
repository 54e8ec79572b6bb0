"""The hooks of own algorithms: each is called in every language, and what documents them names them all."""

import pytest

import sojourn
from own_files import SCALABLE, SCALABLE_C, WriteScenario, needs_compiler, own_tcp

pytestmark = pytest.mark.usefixtures("own_cache")

#: Halves the window after each pause, and records what it was told.
PAUSES = (
    SCALABLE
    + """
    def on_idle(self, window, idle, now):
        self.record("idle", idle)
        self.record("now", now)
        window.cwnd = max(window.mss, window.cwnd // 2)
        self.record("halved", window.cwnd)
"""
)

#: The same in C.
PAUSES_C = SCALABLE_C.replace("    double a, b;", "    double a, b;\n    struct sojourn_recorder *recorder;").replace(
    "SOJOURN_CONGESTION_CONTROL(",
    """static void take_recorder(void *state, struct sojourn_recorder *recorder)
{
    ((struct scalable *)state)->recorder = recorder;
}

static void on_idle(void *state, struct sojourn_window *window, sojourn_time idle, sojourn_time now)
{
    struct sojourn_recorder *recorder = ((struct scalable *)state)->recorder;
    sojourn_record(recorder, "idle", sojourn_seconds(idle));
    sojourn_record(recorder, "now", sojourn_seconds(now));
    window->cwnd = window->cwnd / 2 > window->mss ? window->cwnd / 2 : window->mss;
    sojourn_record(recorder, "halved", (double)window->cwnd);
}

SOJOURN_CONGESTION_CONTROL(.take_recorder = take_recorder, .on_idle = on_idle, """,
)

#: The flows write a message each second.
WRITES = 'periodic = { size = "20 kB", every = "1 s" }'

GOVERNS = PAUSES.replace("    a =", "    governs = True\n\n    def on_delivery(self, window, delivery): ...\n\n    a =")


@pytest.mark.parametrize(
    ("name", "text"), [("mine.py", PAUSES), ("mine.py", GOVERNS), pytest.param("mine.c", PAUSES_C, marks=needs_compiler)]
)
def test_hears_of_pauses(scenario_file: WriteScenario, name: str, text: str) -> None:
    """An own algorithm, one that governs too, is told how long its application had nothing to send, and its window is taken."""
    path = own_tcp(scenario_file, name, text)
    path.write_text(path.read_text(encoding="utf-8") + WRITES, encoding="utf-8")
    series = sojourn.run(path).series
    found = series.filter(which=series["which"][0])
    idle, now, halved = (found.filter(measure=measure)["value"].to_list() for measure in ("idle", "now", "halved"))
    assert len(idle) == 3
    assert all(0.5 < each < 1 for each in idle)
    assert now == pytest.approx([now[0], now[0] + 1, now[0] + 2])
    assert halved[1] < halved[0]
