"""Campaigns: cells and seeds, planned, run by a backend, and stored.

``model`` says what is to be run, ``planning`` checks it, ``execution`` and ``cluster`` carry out runs, and ``runner`` is what all
of Sojourn carries out campaigns with.
"""

from sojourn.campaign.cluster import Cluster
from sojourn.campaign.execution import carry_out, execute, workers
from sojourn.campaign.model import Campaign
from sojourn.campaign.observer import Observer, Tally
from sojourn.campaign.outcome import CampaignOutcome, Imprecise, Outcome
from sojourn.campaign.planning import Plan, PlannedCell, plan
from sojourn.campaign.runner import run, stale
