"""Algorithms in files of their own, each written line for line after a built-in one, and scenarios that use them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import sojourn

WriteScenario = Callable[..., Path]

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

#: Scalable TCP (Kelly 2003) as in ``scalable.rs``.
SCALABLE = '''
"""Scalable TCP."""

from sojourn.plugins import CongestionControl, Growth, number


class Scalable(CongestionControl):
    """Scalable TCP in Python."""

    source = "Kelly, ACM SIGCOMM CCR 33 (2003)"

    a = number(0.01, least=0, most=1, doc="Growth per acknowledged segment, in segments")
    b = number(0.125, least=0, most=1, doc="Decrease on loss, as a share of the window")

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        self.growth.additive(window, max(self.a * window.segments, 1.0), ack.credit)

    def on_congestion(self, window, event):
        if event.flight_size is not None:
            window.set_ssthresh((1.0 - self.b) * event.flight_size)
'''

#: The same in C.
SCALABLE_C = """
#include <sojourn.h>

struct scalable {
    double a, b;
    struct sojourn_growth growth;
};

static void increase(void *state, struct sojourn_window *window, const struct sojourn_ack *ack)
{
    struct scalable *self = state;
    double segments = self->a * sojourn_segments(window);
    sojourn_additive(&self->growth, window, segments > 1.0 ? segments : 1.0, ack->credit);
}

static void on_congestion(void *state, struct sojourn_window *window, const struct sojourn_event *event)
{
    struct scalable *self = state;
    if (event->kind == SOJOURN_LOSS || event->kind == SOJOURN_ECN)
        sojourn_set_ssthresh(window, (uint64_t)((1.0 - self->b) * (double)event->flight_size));
}

static const struct sojourn_parameter parameters[] = {
    SOJOURN_NUMBER(struct scalable, a, 0.01, 0, 1, "Growth per acknowledged segment, in segments"),
    SOJOURN_NUMBER(struct scalable, b, 0.125, 0, 1, "Decrease on loss, as a share of the window"),
    SOJOURN_PARAMETERS_END,
};

SOJOURN_CONGESTION_CONTROL(.title = "Scalable TCP in C", .state_bytes = sizeof(struct scalable), .parameters = parameters,
                           .increase = increase, .on_congestion = on_congestion);
"""

#: CoDel by the pseudo-code of RFC 8289 section 5.6, as in ``codel_control.rs``.
CODEL = '''
import math

from sojourn.plugins import DROP, PASS, Queue, duration, size


class CoDel(Queue):
    """CoDel in Python."""

    target = duration("5 ms", doc="Acceptable minimum sojourn time")
    interval = duration("100 ms", doc="Window of the minimum")
    mtu = size("1500 B", doc="No drop while at most this much remains")

    def __init__(self):
        self.first_above = None
        self.drop_next = 0.0
        self.count = self.last_count = 0
        self.dropping = False
        self.dropped = ""  # what dropped the packet before, in the same call of the link

    def may_drop(self, packet, queue):
        if queue.now - packet.since < self.target or queue.bytes <= self.mtu:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = queue.now + self.interval
            return False
        return queue.now >= self.first_above

    def release(self, packet, line, queue):
        may_drop, before, self.dropped = self.may_drop(packet, queue), self.dropped, ""
        if before == "start":
            return PASS
        if not may_drop:
            self.dropping = False
            return PASS
        if before == "continue":
            self.drop_next += self.interval / math.sqrt(self.count)
        if self.dropping:
            if queue.now < self.drop_next:
                return PASS
            self.count += 1
            self.dropped = "continue"
            return DROP
        self.dropping = True
        delta = self.count - self.last_count
        resumes = delta > 1 and queue.now - self.drop_next < 16 * self.interval
        self.count = self.last_count = delta if resumes else 1
        self.drop_next = queue.now + self.interval / math.sqrt(self.count)
        self.dropped = "start"
        return DROP
'''

#: The same in C.
CODEL_C = """
#include <math.h>
#include <sojourn.h>

enum before { NOTHING, START, CONTINUE };

struct codel {
    uint64_t target, interval, mtu;
    uint64_t first_above, drop_next, count, last_count, dropping;
    enum before dropped;
};

static const struct sojourn_parameter parameters[] = {
    SOJOURN_DURATION(struct codel, target, 5 * SOJOURN_MILLISECOND, 0, SOJOURN_SECOND, "Acceptable minimum sojourn time"),
    SOJOURN_DURATION(struct codel, interval, 100 * SOJOURN_MILLISECOND, 0, SOJOURN_SECOND, "Window of the minimum"),
    SOJOURN_SIZE(struct codel, mtu, 1500, 0, 65535, "No drop while at most this much remains"),
    SOJOURN_PARAMETERS_END,
};

static int may_drop(struct codel *self, const struct sojourn_packet *packet, const struct sojourn_queue_view *view)
{
    if (view->now - packet->since < self->target || view->bytes[0] <= self->mtu) {
        self->first_above = 0;
        return 0;
    }
    if (!self->first_above) {
        self->first_above = view->now + self->interval;
        return 0;
    }
    return view->now >= self->first_above;
}

static uint64_t spacing(const struct codel *self)
{
    return (uint64_t)round((double)self->interval / sqrt((double)self->count));
}

static uint32_t release(void *state, const struct sojourn_packet *packet, uint64_t line, const struct sojourn_queue_view *view)
{
    struct codel *self = state;
    int may = may_drop(self, packet, view);
    enum before before = self->dropped;
    uint64_t delta;

    self->dropped = NOTHING;
    if (before == START)
        return SOJOURN_PASS;
    if (!may) {
        self->dropping = 0;
        return SOJOURN_PASS;
    }
    if (before == CONTINUE)
        self->drop_next += spacing(self);
    if (self->dropping) {
        if (view->now < self->drop_next)
            return SOJOURN_PASS;
        self->count++;
        self->dropped = CONTINUE;
        return SOJOURN_DROP;
    }
    self->dropping = 1;
    delta = self->count - self->last_count;
    if (!(delta > 1 && (view->now < self->drop_next || view->now - self->drop_next < 16 * self->interval)))
        delta = 1;
    self->count = self->last_count = delta;
    self->drop_next = view->now + spacing(self);
    self->dropped = START;
    return SOJOURN_DROP;
}

SOJOURN_QUEUE(.title = "CoDel in C", .state_bytes = sizeof(struct codel), .parameters = parameters, .release = release);
"""


def own_tcp(scenario_file: WriteScenario, name: str, text: str, keys: str = "") -> Path:
    """Writes a scenario whose flows use a file of this name and text, with further keys in the table."""
    path = scenario_file(('tcp = "newreno"', f'tcp = {{ file = "{name}"{keys} }}'))
    (path.parent / name).write_text(text, encoding="utf-8")
    return path


def own_queue(scenario_file: WriteScenario, name: str, text: str, keys: str = "") -> Path:
    """The same for the bottleneck's queue, with two flows of CUBIC."""
    path = scenario_file(('name = "codel"', f'file = "{name}"{keys}'), ('tcp = "newreno"', 'tcp = "cubic"'))
    (path.parent / name).write_text(text, encoding="utf-8")
    return path


def beside_newreno(path: Path, name: str) -> Path:
    """The scenario with a sweep over the file and New Reno."""
    sweep = f'\n[sweep.axes]\n"flows.*.tcp" = [{{ file = "{name}" }}, "newreno"]\n'
    path.write_text(path.read_text(encoding="utf-8") + sweep, encoding="utf-8")
    return path


def measured(result: sojourn.Result) -> list[tuple[object, ...]]:
    """What flows and queues measured, without what algorithms are called."""
    flows = result.flows.drop("key", "algorithm", "scenario")
    return [*flows.rows(), *result.queues.drop("key", "scenario", "discipline").rows()]
