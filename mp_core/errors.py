"""Every error of mp-core: who, what, why, and what to type next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MixedPrecisionError(Exception):
    """Base of every error that mp-core raises on purpose."""


class InvalidPrecision(MixedPrecisionError, ValueError):
    """A field, a value or a combination of values is not legal."""


class UnknownRecipe(MixedPrecisionError, ValueError):
    """No installed distribution, registration or plugin knows the recipe."""


class RecipeConflict(MixedPrecisionError, ValueError):
    """Two providers claim one recipe name."""


class PrecisionConflict(MixedPrecisionError, ValueError):
    """The recipe would overwrite a value that the user set, and was told not to."""


class PrecisionNotApplied(MixedPrecisionError, ValueError):
    """A value of the recipe has no place in the targets."""


class PrecisionRefused(MixedPrecisionError, ValueError):
    """A target's own validation, or a check, refuses the recipe."""


class StalePlan(MixedPrecisionError, RuntimeError):
    """The targets changed between plan and apply."""


class PluginError(MixedPrecisionError, RuntimeError):
    """A plugin cannot be used; the message names distribution, version, entry point and cause."""


class TorchMissing(MixedPrecisionError, ImportError):
    """A torch.dtype was asked for where torch is not installed."""


class ClassMissing(MixedPrecisionError, ImportError):
    """The class of a recipe object cannot be imported here."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of *names* that *name* most likely means, or None."""
    known, name = sorted(names), name.strip().lower()
    matches = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    matches += sorted((each for each in known if name and name in each), key=len)
    return matches[0] if matches else None


def closest(name: str, names: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the name nearest to *name*, or an empty string."""
    match = nearest(name, names)
    return f"; did you mean {match!r}?" if match else ""
