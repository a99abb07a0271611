"""``python -m mp_core`` is ``mp``."""

from mp_core.cli import main

main(prog_name="mp")
