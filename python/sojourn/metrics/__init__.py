"""Metrics: the registry (``METRICS``), and what an entry of it is."""

from sojourn.metrics.metric import Bounds, Display, Metric, Scope
from sojourn.metrics.registry import METRICS, of_group, of_run
