"""A group of commands of which one need not be named: `drift` shows, `drift accept` accepts."""

from __future__ import annotations

import click


class DefaultCommandGroup(click.Group):
    """A click group that takes its first command where the arguments begin with no command's name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the first command before arguments that name none."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands, the default one first."""
        return list(self.commands)
