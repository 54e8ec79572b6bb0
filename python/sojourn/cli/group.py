"""Commands that have commands."""

import click

#: Characters that no first sentence of help exceeds.
WHOLE = 1_000


class Group(click.Group):
    """A group whose help has each command's first sentence whole; click cuts off what does not fit on one line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See click."""
        known = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in known if command is not None])
