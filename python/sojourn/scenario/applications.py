"""What happens on the connections of flows that do not just carry data one way: exchanges, pages, and messages at equal times."""

from typing import Any, Self

from pydantic import Field, model_validator

from sojourn.catalogue.published_sizes import PUBLISHED
from sojourn.scenario.base import Table
from sojourn.scenario.quantities import Duration, PositiveDuration, Rate, Size
from sojourn.scenario.sizes import RandomCount, RandomSize, Sizes, as_json
from sojourn.units import PICOSECONDS

#: Bytes of a request: 3GPP2 C.R1002-0, HTTP model.
REQUEST = 350

#: Connections of a browser to a host with HTTP/1.1: what Chromium (``kMaxSocketsPerGroup``) and Firefox
#: (``network.http.max-persistent-connections-per-server``) have. RFC 9112 section 9.4 names no number.
CONNECTIONS = 6


#: The payload of a frame of HTTP/2: RFC 9113 section 6.5.2, the initial value of SETTINGS_MAX_FRAME_SIZE, and the greatest.
FRAME, MOST_FRAME = 16_384, 2**24 - 1


class Exchange(Table):
    """Requests and responses on one persistent connection."""

    request: RandomSize = Field(REQUEST, description="Bytes of a request.")
    response: RandomSize = Field(description="Bytes of a response.")
    count: int | None = Field(None, ge=1, le=2**53, description="Exchanges of a session; without it they go on until the end.")
    think: Duration = Field(0, description="Mean of the exponential times between a response and the next request.")

    def as_json(self) -> dict[str, Any]:
        """The application as a run's specification has it."""
        sizes = {"request": as_json(self.request), "response": as_json(self.response)}
        return {"exchanges": {**sizes, "count": self.count, "think": self.think}}


class Page(Table):
    """The load of a page: a first object, and then those that it names."""

    objects: RandomCount = Field(description="Objects besides the first.")
    request: RandomSize = Field(REQUEST, description="Bytes of a request.")
    first: RandomSize | None = Field(None, description="Bytes of the first object; by default web-main-object.")
    size: RandomSize | None = Field(None, description="Bytes of each other object; by default web-embedded-object.")
    connections: int = Field(
        CONNECTIONS, ge=1, le=256, description="Connections at most, each with one request after another, as with HTTP/1.1."
    )
    multiplexed: bool = Field(False, description="Request all objects at once on one connection, as with HTTP/2.")
    interleaved: bool = Field(
        False, description="Multiplexed responses take turns, frame by frame, instead of following one another."
    )
    frame: Size | None = Field(None, le=MOST_FRAME, description='Payload of a frame; "16384 B" by default.')

    @model_validator(mode="after")
    def _has_connections(self) -> Self:
        shared = self.interleaved and not self.multiplexed
        return self.without(
            (self.multiplexed and "connections" in self.model_fields_set, "connections: a multiplexed page has one"),
            (shared, "interleaved: only the responses of a multiplexed page share a connection"),
            (self.frame is not None and not self.interleaved, "frame: only interleaved responses have frames"),
        )

    def as_json(self) -> dict[str, Any]:
        """The application as a run's specification has it."""
        sizes = {
            key: PUBLISHED[published].as_json() if size is None else as_json(size)
            for key, size, published in (("first", self.first, "web-main-object"), ("size", self.size, "web-embedded-object"))
        }
        return {
            "page": {
                "request": as_json(self.request),
                **sizes,
                "objects": as_json(self.objects) if self.objects else None,
                "connections": 1 if self.multiplexed else self.connections,
                "multiplexed": self.multiplexed,
                **({"frame": self.frame or FRAME} if self.interleaved else {}),
            }
        }


class Periodic(Table):
    """Messages that are written at equal times, whether the connection has carried the ones before or not."""

    size: RandomSize = Field(description="Bytes of a message.")
    every: PositiveDuration | None = Field(None, description="Time between messages.")
    rate: Rate | None = Field(None, description="Payload written a second, instead of the time between messages.")

    @model_validator(mode="after")
    def _has_a_pace(self) -> Self:
        at_random = self.rate is not None and isinstance(self.size, Sizes)
        return self.without(
            ((self.every is None) == (self.rate is None), 'give either "every" or "rate"'),
            (at_random, 'rate: messages of random sizes have a time between them; give "every"'),
        )

    def as_json(self) -> dict[str, Any]:
        """The messages as a run's specification has them."""
        every = self.every
        if self.rate is not None and isinstance(self.size, int):
            every = max(8 * self.size * PICOSECONDS // self.rate, 1)
        return {"periodic": {"size": as_json(self.size), "every": every}}
