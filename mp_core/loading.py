"""Import what an entry point names, with its distribution in any error."""

from __future__ import annotations

import importlib
from functools import reduce

from mp_core.discovery import Entry
from mp_core.errors import PluginError


def load(entry: Entry) -> object:
    """Return the object that *entry* names.

    Raises PluginError naming distribution, version, entry point and cause, for whatever the
    plugin's import raises, SystemExit included; only KeyboardInterrupt passes.
    """
    module, _, attributes = entry.target.partition(":")
    try:
        found: object = importlib.import_module(module)
        return reduce(getattr, attributes.split("."), found) if attributes else found
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise plugin_error(entry.display, "cannot be loaded", error) from error


def plugin_error(who: str, what: str, error: BaseException) -> PluginError:
    """Return the error that says who failed, at what, and why, and how to go on without it."""
    distribution = who.partition(" ")[0]
    cause = f"{type(error).__name__}: {error}"
    hint = f"To go on without it: MP_DISABLE_PLUGINS={distribution}"
    return PluginError(f"{who} {what}\n  cause: {cause}\n  {hint}")
