"""Ask every plugin what is wrong, or unknown, about a recipe in a situation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mp_core.findings import Finding, Rule
from mp_core.plugins import hooks
from mp_core.situation import Fact, Situation, situation_of

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig
    from mp_core.expression import RecipeLike

#: From the worst to the mildest, the order in which findings are told.
SEVERITIES = ("error", "warning", "unknown", "note")
DEAD = Rule(
    "MP101",
    "A setting of a family that is off is read by nothing.",
    "The setting changes nothing.",
    "mp-core docs/differences.md",
)
NO_FRAMEWORK = Rule(
    "MP201",
    "Which version of a training framework holds a recipe's fields is known to its own plugin.",
    "A field that the installed version lacks is noticed only when the recipe is applied.",
    "mp-core docs/discovery.md",
    "machine",
)


def check(config: RecipeLike, situation: Any = None) -> list[Finding]:
    """Return what stands against *config* in *situation*, the worst first.

    config: a name, a mapping or a config. situation: a Situation, a mapping of facts, or one or
    several of the framework's config objects as they are. What the recipe itself will set counts
    as set. Nothing is detected. Raises as get_mixed_precision_config.
    """
    from mp_core.expression import get_mixed_precision_config

    resolved = get_mixed_precision_config(config)
    found = findings(resolved, _with_recipe(resolved, situation_of(situation)))
    # A plan says these in its notes, whether it checks or not.
    return _sorted([*found, *_dead(resolved)])


def findings(config: MixedPrecisionConfig, situation: Situation) -> list[Finding]:
    """Return the plugins' findings on *config* where *situation* holds its values already."""
    answers = hooks().mp_check(config=config, situation=situation)
    found = {finding for answer in answers for finding in answer}
    if not hooks().mp_homes.get_hookimpls():
        message = "Whether a training framework holds the recipe's fields was not checked."
        found.add(NO_FRAMEWORK.unknown(message, "pip install mp-plugin-megatron"))
    return _sorted(found)


def _sorted(found: Iterable[Finding]) -> list[Finding]:
    return sorted(found, key=lambda each: (SEVERITIES.index(each.severity), each))


def _dead(config: MixedPrecisionConfig) -> Iterator[Finding]:
    from mp_core.settings import dead_knobs

    for name, why in dead_knobs(config).items():
        yield DEAD.warning(f"{name} does nothing: {why}.", f"Leave out {name}.")


def rules() -> dict[str, Rule]:
    """Return every rule of the installed plugins and of core by its code, sorted."""
    offered = [rule for answer in hooks().mp_rules() for rule in answer]
    return {rule.code: rule for rule in sorted([*offered, DEAD, NO_FRAMEWORK])}


def variables() -> dict[str, str]:
    """Return what each environment variable that the plugins know changes, sorted by name."""
    offered = {name: text for answer in hooks().mp_variables() for name, text in answer.items()}
    return dict(sorted(offered.items()))


def _with_recipe(config: MixedPrecisionConfig, situation: Situation) -> Situation:
    """Return *situation* in which a config that was not set up yet holds the recipe's values."""
    from mp_core.settings import settings

    name = config.recipe or "recipe"
    return situation.under({s.field: Fact(s.value, name) for s in settings(config)})
