"""Acme's NPUs for mp-core."""
