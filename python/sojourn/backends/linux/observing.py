"""What a guest looks at, to see the flows that programs make: see ``observed``."""

from collections.abc import Iterable, Iterator, Sequence

from sojourn.backends.linux.topology import LinkDevices, node
from sojourn.specification import RunSpecification


def leaving(run: RunSpecification, hosts: Iterable[int]) -> list[int]:
    """The links on which hosts send; of these a device must see each packet before any queue (``topology.build``, ``first``)."""
    wanted = set(hosts)
    return [index for index, link in enumerate(run["links"]) if link["from"] in wanted]


def lines(run: RunSpecification, hosts: Iterable[int], devices: Sequence[LinkDevices]) -> Iterator[str]:
    """Lines of the guest's plan that have it look at hosts; they come after those that make the network, and after flows."""
    wanted = sorted(set(hosts))
    yield from (f"observe {node(host)}" for host in wanted)
    for link, own in zip(run["links"], devices, strict=True):
        if link["from"] in wanted:
            yield f"observe-sent {own.origin} {own.sees_all}"
        if link["to"] in wanted:
            yield f"observe-received {own.target} {own.into}"
