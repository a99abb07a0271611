"""What several verbs share."""

from __future__ import annotations

import json
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def print_json(value: Any) -> None:
    """Print *value* as indented JSON on standard output."""
    click.echo(json.dumps(value, indent=2))
