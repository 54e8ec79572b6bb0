"""A page for the report card of each algorithm that is deployed, from what ``make cards`` kept."""

from made.cards import MODULES, SUITES, Answered, candidates, card, place
from prose import plain, table
from sojourn.suite import library
from sojourn.suite.design import Suite


def pages() -> dict[str, str]:
    """Each page as Markdown, by its place in the site."""
    return {
        place(candidate): _page(library.load(suite), candidate, card(suite, candidate))
        for suite in SUITES
        for candidate in candidates(suite)
    }


def _page(suite: Suite, candidate: str, answers: list[Answered]) -> str:
    questions = {each.id: each for each in suite.questions}
    first = answers[0]
    rows = (
        [
            plain(questions[each.question].question) if each.question in questions else f"`{each.question}`",
            each.section,
            f"**{each.verdict}**" if each.verdict != "pass" else each.verdict,
            *map(plain, (each.measured, each.comparators, each.where)),
        ]
        for each in answers
    )
    return "\n\n".join(
        (
            f"# Report card of {plain(candidate)}",
            f"By {plain(suite.source)}: `{first.command}`, {plain(first.engine)} of commit `{first.commit}`. "
            f"{_file(candidate)}[How a verdict is made](../evaluate.md), and [what others have](../cards.md).",
            table(("question", "section", "verdict", plain(candidate), "comparators", "where"), rows),
        )
    )


def _file(candidate: str) -> str:
    """Where a module's file is from."""
    module = MODULES.get(candidate)
    if module is None:
        return ""
    shows = "" if module.shows is None else f"Beside it stood `{module.shows}`. "
    return f"The file is of commit `{module.commit}` of <{module.repository}>, SHA-256 `{module.sha256}`. {shows}"
