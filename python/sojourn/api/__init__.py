"""What the command line and notebooks call alike."""

from sojourn.api.charting import Atlas, Checks, PlannedLandmark, check_atlas, plan_atlas, survey
from sojourn.api.checking import FileKind, kind_of
from sojourn.api.comparing import ManyCells, Side, TwoCells, compare_results, compare_within, compared_frame
from sojourn.api.directories import as_made, by_reading, judge, kept, kept_of_study, open, readings  # noqa: A004, as sojourn.open it shadows nothing
from sojourn.api.drawing import SEEDS, Drawn, draw
from sojourn.api.evaluating import CARDS, Evaluation, ask, evaluate, plan_evaluation
from sojourn.api.execution import complete
from sojourn.api.mapping import MAP_BUDGET, Mapped, map_atlas
from sojourn.api.planning import Extent, extent
from sojourn.api.ranging import draw_range, find_range
from sojourn.api.running import run
from sojourn.api.scenarios import campaign, check_groups, expand, load, single_run, sweep
from sojourn.api.searching import BUDGET, FOUND, FRONT, POINTS, search
from sojourn.api.studies import Reproduction, check_study, compare, reproduce, study_campaign
