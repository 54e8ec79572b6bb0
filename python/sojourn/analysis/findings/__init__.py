"""Findings: one to five sentences that say what a campaign showed, made from its runs by rules (docs/report.md)."""

from sojourn.analysis.findings.effects import Effect, Measure
from sojourn.analysis.findings.finding import Finding, Kind, Stated, rows
from sojourn.analysis.findings.making import between, of
