"""Calls of another project's classes as data: built where it is installed, printed elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import Any, NamedTuple

from mp_core.errors import ClassMissing, InvalidPrecision


class Member(NamedTuple):
    """A value that the called class's module holds: ``Member("Format", "E4M3")``."""

    owner: str
    name: str

    def __repr__(self) -> str:
        return f"{self.owner}.{self.name}"


@dataclass(frozen=True)
class Call:
    """A class and the arguments wanted for it, by name.

    defaults: what a class that lacks an argument does, by argument. Such an argument is left out
    where it is wanted at that value, and refused otherwise; one not listed here is always needed.
    labels: what a person types to change an argument, where it is called otherwise.
    """

    module: str
    name: str
    arguments: Mapping[str, Any]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def fitted(self, names: Collection[str], where: str) -> Call:
        """Return the call with the arguments that are among *names*, the fields of the class.

        where: what has these fields, for messages. Raises InvalidPrecision naming each argument
        that is wanted at another value than its default and has no field there.
        """
        lost = [name for name in self._changed() if name not in names]
        if lost:
            wanted = ", ".join(f"{name}={self.arguments[name]!r}" for name in lost)
            typed = " or ".join(self.labels.get(name, f"another {name}") for name in lost)
            message = f"{where}: {self.name} has no field for {wanted}, which it would leave out"
            raise InvalidPrecision(f"{message}; type {typed}, or take a version that has it")
        kept = {name: value for name, value in self.arguments.items() if name in names}
        return replace(self, arguments=kept)

    def bare(self) -> Call:
        """Return the call without the arguments at their defaults, for a class not known here."""
        changed = self._changed()
        return replace(self, arguments={name: self.arguments[name] for name in changed})

    def build(self) -> Any:
        """Return the object, made with exactly those arguments that the installed class has.

        Raises ClassMissing where the class cannot be imported, InvalidPrecision for a wanted value
        that it has no field for or that it refuses.
        """
        made = self._class()
        call = self.fitted(field_names(made), f"the installed {self.module}")
        module = import_module(self.module)
        values = {name: _value(module, value) for name, value in call.arguments.items()}
        try:
            return made(**values)
        # Classes refuse by assertions, or by validators whose errors are ValueErrors.
        except (AssertionError, TypeError, ValueError) as error:
            who = f"the installed {self.module} refuses {call.expression()}"
            # A validator's own message goes on with what it was given, and with a link.
            why = " ".join(str(error).partition(" [type=")[0].split()).rstrip(".")
            hint = "change what it names, or take another version"
            raise InvalidPrecision(f"{who}: {why}; {hint}") from error

    def code(self) -> str:
        """Return Python to paste: the import, and the call."""
        owners = {value.owner for value in self.arguments.values() if isinstance(value, Member)}
        names = ", ".join(sorted({self.name, *owners}))
        lines = [f"    {name}={value!r}," for name, value in self.arguments.items()]
        body = "\n".join(["(", *lines, ")"]) if lines else "()"
        return f"from {self.module} import {names}\n\nrecipe = {self.name}{body}\n"

    def expression(self) -> str:
        """Return the call alone, on one line."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({given})"

    def installed_fields(self) -> frozenset[str]:
        """Return the fields of the installed class; raise ClassMissing where there is none."""
        return field_names(self._class())

    def _changed(self) -> list[str]:
        """Return the arguments that are not at their default, or have none."""
        defaults, wanted = self.defaults, self.arguments
        return [name for name in wanted if name not in defaults or wanted[name] != defaults[name]]

    def _class(self) -> Any:
        """Return the class; importing a framework may fail in more ways than one."""
        try:
            return getattr(import_module(self.module), self.name)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            message = f"{self.module}.{self.name} cannot be imported here: {why}"
            hint = "install a version that has it, or print the call's code instead"
            raise ClassMissing(f"{message}; {hint}") from error


def field_names(made: Any) -> frozenset[str]:
    """Return the fields that a dataclass is constructed with."""
    return frozenset(each.name for each in fields(made) if each.init)


def _value(module: Any, value: Any) -> Any:
    return getattr(getattr(module, value.owner), value.name) if isinstance(value, Member) else value
