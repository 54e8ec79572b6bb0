"""Environments for controllers that learn: ``gymnasium.make("sojourn/Bottleneck-v0", scenario=FILE)``.

An agent of the scenario is a congestion control, ``tcp = { agent = true, interval = "1 rtt" }``. It is asked at intervals; between
two questions everything goes on in the simulator. What it may see and set, and what an interval is worth: ``docs/learning.md``.
"""

try:
    import gymnasium
except ImportError as error:
    raise ImportError(f"sojourn.environment needs gymnasium and pettingzoo: pip install sojourn[learning] ({error})") from None

from sojourn.environment.parallel import parallel
from sojourn.environment.single import Bottleneck
from sojourn.environment.vector import BottleneckVector

__all__ = ["Bottleneck", "BottleneckVector", "parallel"]

gymnasium.register(
    id="sojourn/Bottleneck-v0",
    entry_point="sojourn.environment.single:Bottleneck",
    vector_entry_point="sojourn.environment.vector:BottleneckVector",
)
