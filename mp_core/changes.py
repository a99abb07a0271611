"""What an applier proposes for one field of one target, and where the value comes from."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

OriginKind = Literal["recipe", "base recipe", "override", "rule"]


class Origin(NamedTuple):
    """Where a value comes from: the recipe, a base recipe (named), an override, or a rule."""

    kind: OriginKind
    name: str = ""

    def __str__(self) -> str:
        return f"base {self.name}" if self.kind == "base recipe" else self.kind


RECIPE = Origin("recipe")
OVERRIDE = Origin("override")
RULE = Origin("rule")


class Change(NamedTuple):
    """The value that a recipe gives to one field of one target; *old* may equal *new*.

    target: the object itself. origin and reason: why *new*. setting: the config field that this
    carries out, by which a dropped value is noticed. derived: *old* was computed by the target
    itself, so that it is nobody's word.
    """

    target: object
    field: str
    old: Any
    new: Any
    origin: Origin = RECIPE
    reason: str = ""
    setting: str = ""
    derived: bool = False

    def __repr__(self) -> str:
        where = f"{type(self.target).__name__}.{self.field}"
        return f"<Change {where}: {self.old!r} -> {self.new!r}, {self.origin}>"


class Home(NamedTuple):
    """Where a config field lives in a framework.

    role: ``model``, ``optimizer`` or ``ddp``. target: the class's name. present: whether the
    installed version has it. since: the first version that has it, such as ``megatron-core 0.15``.
    installed: the version that is installed here.
    """

    role: str
    target: str
    present: bool
    since: str
    installed: str
