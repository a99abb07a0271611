"""Write distributions to a directory as pip leaves them there: the plugins to be listed."""

from __future__ import annotations

import compileall
from pathlib import Path

#: As long as a usual README, which is where most of a METADATA file goes.
DESCRIPTION = "A sentence of a README, about as long as such sentences tend to be in one.\n" * 40
METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: A distribution that stands here to be read
Author-email: Somebody <somebody@example.com>
License: Apache-2.0
Classifier: Development Status :: 4 - Beta
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.10
Requires-Dist: mp-core<0.2,>=0.1
Requires-Dist: pytest>=8; extra == "test"
Provides-Extra: test
Description-Content-Type: text/markdown

{description}"""
PLUGIN = """[mp_core.plugins]
{module} = {module}

[mp_core.recipes]
{module}_mixed = {module}:recipe
"""
SCRIPT = """[console_scripts]
{module} = {module}:main
"""
MODULE = '''"""A module of one function."""


def recipe():
    """Return nothing: it is listed and not called."""
'''


def write(folder: Path, plugins: int, others: int = 100) -> None:
    """Fill *folder* with plugins of one recipe each and *others*, every third with a script."""
    for number in range(plugins):
        _distribution(folder, f"bench-plugin-{number:03}", PLUGIN)
    for number in range(others):
        _distribution(folder, f"unrelated-{number:03}", "" if number % 3 else SCRIPT)
    # pip compiles what it installs: without this the first import of each would be another job.
    compileall.compile_dir(folder, quiet=1)


def _distribution(folder: Path, name: str, points: str) -> None:
    module, version = name.replace("-", "_"), f"1.{len(name)}.0"
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(MODULE, encoding="utf-8")
    metadata = METADATA.format(name=name, version=version, description=DESCRIPTION)
    files = {"METADATA": metadata, "WHEEL": "Wheel-Version: 1.0\n", "INSTALLER": "pip\n"}
    if points:
        files["entry_points.txt"] = points.format(module=module)
    files["RECORD"] = "".join(
        f"{info.name}/{file},sha256={'0' * 43},{len(text)}\n" for file, text in files.items()
    )
    for file, text in files.items():
        (info / file).write_text(text, encoding="utf-8")
