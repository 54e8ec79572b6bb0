"""Scenes of the laboratory in pages of the site, each where a comment says ``scene: bufferbloat: A call behind downloads``."""

import html
import re

#: What a link into the laboratory says after its ``#``, and what the frame is called.
MARK = re.compile(r"<!-- scene: (\S+): (.+?) -->")


def framed(markdown: str, laboratory: str | None) -> str:
    """A page with its scenes in frames, or without them where the laboratory is not built.

    ``laboratory`` is its address as the page sees it.
    """

    def frame(match: re.Match[str]) -> str:
        if laboratory is None:
            return ""
        address, title = (html.escape(text) for text in (f"{laboratory}#{match[1]}&embed=on", match[2]))
        return f'<iframe src="{address}" title="{title}" width="100%" height="760" loading="lazy" style="border: 0"></iframe>'

    return MARK.sub(frame, markdown)
