"""Searching a space of scenarios: what varies (``space``), what is looked for (``aim``), and who proposes (``proposing``)."""
