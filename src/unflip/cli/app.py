"""The list of commands. Heavy imports live inside the commands, so that help is instant."""

from __future__ import annotations

from typing import Annotated

import typer

from unflip.cli.audit import audit
from unflip.cli.correct import correct
from unflip.cli.datasets import datasets
from unflip.cli.export import export
from unflip.cli.fit import fit
from unflip.cli.flip import flip
from unflip.cli.forget import forget
from unflip.cli.merge import merge
from unflip.cli.predict import predict
from unflip.cli.reproduce import reproduce
from unflip.cli.verify import verify

app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (audit, fit, predict, merge, forget, correct, flip, export):
    app.command()(command)
app.command()(reproduce)
app.command()(verify)
app.add_typer(datasets, name="datasets")


@app.callback(invoke_without_command=True)
def unflip(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Learn from labels you cannot trust."""
    if version:
        from unflip import __version__

        typer.echo(f"unflip {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
