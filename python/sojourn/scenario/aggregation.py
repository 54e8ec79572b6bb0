"""Links that send frames of several packets, each with a fixed airtime besides that of its packets: a simple model of Wi-Fi.

The defaults are those of IEEE 802.11n at 5 GHz as Høiland-Jørgensen et al. reckon with them in "Ending the Anomaly", USENIX
ATC 2017, section 2.2.1, and the limits of a frame in IEEE 802.11-2016.
"""

from pydantic import Field

from sojourn.scenario.base import Table
from sojourn.scenario.quantities import Duration, Packets, PositiveDuration, Size
from sojourn.units import PICOSECONDS

_MICROSECOND = PICOSECONDS // 1_000_000

#: DIFS, the mean backoff of 15 / 2 slots of 9 us, and the preamble.
ACCESS = (34 * 2 + 9 * 15 + 32 * 2) * _MICROSECOND // 2

#: SIFS, and what the paper has for the block acknowledgement besides its bytes.
RESPONSE = 2 * 16 * _MICROSECOND

#: Of a packet in an A-MPDU: delimiter, MAC header and frame check sequence.
HEADER = 4 + 34 + 4

#: The block acknowledgement.
RESPONSE_SIZE = 58

#: The window of a block acknowledgement (IEEE 802.11-2016 section 9.4.1.14), and the longest A-MPDU (section 9.4.2.56.3).
MOST_PACKETS, MOST_BYTES = 64, 65_535

#: The longest aggregate of ath9k, the driver in that paper.
AIRTIME = 4 * PICOSECONDS // 1000


class Aggregation(Table):
    """What a frame holds, and the airtime that it takes besides its packets."""

    packets: Packets = Field(MOST_PACKETS, ge=1, le=1_000_000, description="Most packets in a frame.")
    size: Size = Field(MOST_BYTES, description="Most bytes in a frame, headers included.")
    airtime: PositiveDuration = Field(AIRTIME, description="Longest transmission of the packets of a frame.")
    access: Duration = Field(ACCESS, description="Time before a frame's data: interframe space, mean backoff and preamble.")
    response: Duration = Field(
        RESPONSE, description="Time after a frame's data, besides that of the block acknowledgement's bytes."
    )
    response_size: Size = Field(RESPONSE_SIZE, le=500, description="Size of the block acknowledgement.")
    header: Size = Field(HEADER, le=500, description="Bytes that each packet has in a frame besides its own, before padding.")
