"""Commands about a cluster: `cluster status`."""

from __future__ import annotations

from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.words import Json

clusters = typer.Typer(help="See who plays for a run that trains on a cluster.", no_args_is_help=True)
app.add_typer(clusters, name="cluster")


@clusters.callback()
def _clusters() -> None:
    """See who plays for a run that trains on a cluster."""


@clusters.command(epilog="Example: `zerosum cluster status runs/connect4`")
def status(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run: its path, or its name.", show_default=False)],
    json: Json = False,
) -> None:
    """Show the actors of a run, their speed, how old their networks are, what was refused and what failed."""
    import dataclasses
    import time
    from json import dumps

    from zerosum.cluster import read_events, read_status, status_text
    from zerosum.play.runs import require_run

    directory = require_run(run)
    found, events = read_status(directory), read_events(directory)
    if json:
        print(dumps({**dataclasses.asdict(found), "events": events}))
    else:
        print(status_text(found, events, now=time.time()))
