"""Where results are kept: in memory, or in a directory that can grow, be resumed and be asked.

A directory holds ``sojourn.json``, which says that it is a store; ``commands.jsonl``, the commands that made it;
``journal.sqlite``, to which each run goes as it ends; and one Parquet file a frame, to which the journal's runs are moved at the
end of a campaign. Runs that another build of their backend has made again move to the folder ``superseded``. Nothing that has
finished is lost when a process is killed, nothing is half there, and nothing counts twice. No Parquet file depends on when, in
what order, in how many goes or on how many workers the runs were made; those in ``superseded`` depend on what made runs again.
"""

from sojourn.store.directory import Store
from sojourn.store.files import write_whole
from sojourn.store.in_memory import InMemory
from sojourn.store.provenance import Provenance
from sojourn.store.run_store import RunStore
