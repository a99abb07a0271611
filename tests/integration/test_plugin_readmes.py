"""The examples in the plugins' READMEs show what the commands really print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from mp_core.cli import main

PLUGINS = Path(__file__).parents[2] / "plugins"
EXAMPLE = re.compile(r"```console\n\$ mp (show \S+)\n(.*?)```", re.DOTALL)
EXAMPLES = [
    pytest.param(command, printed, id=f"{readme.parent.name}: {command}")
    for readme in sorted(PLUGINS.glob("mp-plugin-*/README.md"))
    for command, printed in EXAMPLE.findall(readme.read_text())
]


@pytest.mark.parametrize(("command", "printed"), EXAMPLES)
def test_example_is_what_the_command_prints(command: str, printed: str) -> None:
    result = CliRunner().invoke(main, command.split())
    # Words, because the README breaks lines where it likes.
    assert result.output.split() == printed.split()
    assert result.exit_code == 0
