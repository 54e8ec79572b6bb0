"""Environments for controllers that learn: ``gymnasium.make("sojourn/Bottleneck-v0", scenario=FILE)``.

An agent is a congestion control, ``tcp = { agent = true, interval = "1 rtt" }``, or a queue discipline. It is asked at
intervals, and in between everything goes on in the simulator. ``docs/learning.md`` has what it may see and set.
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
