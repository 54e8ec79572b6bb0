"""Commands that have commands."""

from collections.abc import Collection, Mapping

import click

#: Characters that no first sentence of help exceeds.
WHOLE = 1_000


class Group(click.Group):
    """A group whose help has each command's first sentence whole; click cuts off what does not fit on one line."""

    def sections(self, ctx: click.Context) -> Mapping[str, Collection[str]]:
        """The titles of the sections in which help lists commands, and the names of each section's commands."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = self.sections(ctx)
        widest = max(len(name) for names in sections.values() for name in names)
        for title, names in sections.items():
            known = [(name.ljust(widest), self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in known if command is not None])
