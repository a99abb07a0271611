"""The hooks that a plugin may implement; every one is called by core and by nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from mp_core.calls import Call
    from mp_core.changes import Change, Home
    from mp_core.config import MixedPrecisionConfig
    from mp_core.findings import Advice, Finding, Rule
    from mp_core.memory import Bytes
    from mp_core.requirements import Place
    from mp_core.situation import Situation

PROJECT = "mp_core"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class HookSpecs:
    """Signatures and meaning of the hooks."""

    @hookspec
    def mp_recipes(self) -> Mapping[str, Callable[[], MixedPrecisionConfig]]:
        """Return factories that are known only at run time, by recipe name."""
        raise AssertionError  # a specification is never called

    @hookspec(firstresult=True)
    def mp_build_recipe(
        self, name: str, factory: Callable[[], MixedPrecisionConfig]
    ) -> MixedPrecisionConfig | None:
        """Return the config of recipe *name*; core's own, which calls *factory*, comes last."""

    @hookspec
    def mp_vocabulary(self) -> Mapping[str, Iterable[str]]:
        """Return legal values by config field; a mapping of value to meaning is printed."""
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_aliases(self) -> Mapping[str, str]:
        """Return other projects' names for config fields, understood in overrides."""
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_advice(self, config: MixedPrecisionConfig) -> Iterable[Advice]:
        """Return what a person should know before training with *config*."""
        raise AssertionError  # a specification is never called

    @hookspec(firstresult=True)
    def mp_apply(self, config: MixedPrecisionConfig, target: object) -> list[Change] | None:
        """Return a change for each field of *target* that *config* speaks of; make none.

        None: not my kind of target. A list may hold changes whose old and new are equal.
        """

    @hookspec(firstresult=True)
    def mp_validate(self, target: object) -> list[str] | None:
        """Run the own validation of *target*, a copy that may be changed; raise to refuse.

        Returns what could not be checked here, a sentence each. None: not my kind of target.
        """

    @hookspec(firstresult=True)
    def mp_homes(self, field: str) -> list[Home] | None:
        """Return where config field *field* lives in this plugin's framework; None: nowhere."""

    @hookspec(firstresult=True)
    def mp_targets(self, values: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Return real config objects by role (model, optimizer, ddp), from plain field names."""

    @hookspec
    def mp_check(self, config: MixedPrecisionConfig, situation: Situation) -> Iterable[Finding]:
        """Return what is wrong, or unknown, about *config* in *situation*."""
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_rules(self) -> Iterable[Rule]:
        """Return the rules of this plugin's checks, one for each code that they use."""
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_devices(self) -> Mapping[str, str]:
        """Return ``vendor:architecture`` by product name, of devices that core does not know."""
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_places(self) -> Mapping[str, Iterable[Place]]:
        """Return where another plugin's recipe runs too, by the code of its rule on devices.

        For a vendor, such as ``{"HF201": (Place("acme:npu2", "acme manual 3.1"),)}``.
        """
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_detect(self) -> Mapping[str, str]:
        """Return facts of this machine, such as ``device``, that core could not detect.

        Called once a process, and has to be quick: a vendor's tool, not its framework.
        """
        raise AssertionError  # a specification is never called

    @hookspec
    def mp_variables(self) -> Mapping[str, str]:
        """Return what each environment variable changes that changes a recipe."""
        raise AssertionError  # a specification is never called

    @hookspec(firstresult=True)
    def mp_te_recipe(self, config: MixedPrecisionConfig, situation: Situation) -> Call | None:
        """Return the call that makes the recipe object of *config*; None: not my precision.

        Of a class of Transformer Engine, or of a vendor's library.
        """

    @hookspec(firstresult=True)
    def mp_bytes_per_parameter(
        self, config: MixedPrecisionConfig, situation: Situation
    ) -> Bytes | None:
        """Return what a linear layer's weight takes under *config*; None: not my precision."""
