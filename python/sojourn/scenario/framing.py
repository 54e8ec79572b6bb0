"""What a link adds to each packet: headers of the layers below, and the cells of DSL lines."""

from dataclasses import dataclass
from typing import Literal

#: The cells of a link, by the words of tc-cake(8): none, those of ATM (ADSL), or the encoding of PTM (VDSL2).
Cells = Literal["noatm", "atm", "ptm"]

#: The most bytes of headers, and of the least size (tc-cake(8)).
MOST_BYTES = 256


@dataclass(frozen=True)
class Framing:
    """What one direction of a link adds to each packet; nothing by default."""

    overhead: int = 0
    mpu: int = 0
    framing: Cells = "noatm"


#: Nothing is added.
PLAIN = Framing()
