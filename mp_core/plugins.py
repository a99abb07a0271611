"""The plugins' hooks: every usable plugin registered, guarded, and what failed remembered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pluggy

from mp_core.discovery import PLUGINS, Entry, find
from mp_core.errors import PluginError, closest
from mp_core.guarding import Guard
from mp_core.hookspecs import PROJECT, HookSpecs, hookimpl
from mp_core.loading import load, plugin_error
from mp_core.metadata import Problem

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

logger = logging.getLogger("mp_core")

#: Hooks in which an exception is an answer and not a failure.
REFUSING = ("mp_validate",)


class Core:
    """Core's own implementations, which come after every plugin's."""

    @staticmethod
    @hookimpl(trylast=True)
    def mp_build_recipe(factory: Callable[[], MixedPrecisionConfig]) -> MixedPrecisionConfig:
        """Call the factory."""
        return factory()

    @staticmethod
    @hookimpl(trylast=True)
    def mp_validate(target: object) -> list[str]:
        """Run the dataclass's own ``__post_init__`` where it has one."""
        getattr(target, "__post_init__", list)()
        return []


class Manager(pluggy.PluginManager):
    """A pluggy manager that guards every implementation and remembers what failed."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.problems: list[Problem] = []
        self.add_hookspecs(HookSpecs)
        self.register(Core)

    def admit(self, entry: Entry) -> None:
        """Load, register and guard the module of one entry point, or note why it cannot be."""
        try:
            module = load(entry)
            self._admit(entry, module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 # one broken plugin costs one
            if self.get_plugin(entry.display) is not None:
                self.unregister(name=entry.display)
            own = isinstance(error, PluginError)
            self.note(entry, error if own else plugin_error(entry.display, "is not used", error))

    def _admit(self, entry: Entry, module: object) -> None:
        if self.is_registered(module):
            raise PluginError(f"{entry.display} is loaded already, as {self.get_name(module)}")
        self.register(module, name=entry.display)
        self._guard(entry, module)

    def note(self, entry: Entry, error: BaseException) -> None:
        """Remember a problem of *entry* and say it once."""
        problem = Problem(entry.distribution, entry.version, entry.name, str(error))
        if problem not in self.problems:
            self.problems.append(problem)
            logger.warning("%s", error)

    def _guard(self, entry: Entry, module: object) -> None:
        for caller in self.get_hookcallers(module) or ():
            first = bool(caller.spec and caller.spec.opts.get("firstresult"))
            guard = Guard(entry, caller.name, self.note, first=first)
            for implementation in caller.get_hookimpls():
                if implementation.plugin is not module:
                    continue
                if not caller.has_spec() and not implementation.optionalhook:
                    known = [name for name in vars(HookSpecs) if name.startswith("mp_")]
                    hint = closest(caller.name, known)
                    raise PluginError(f"{entry.display}: mp_core has no hook {caller.name}{hint}")
                if caller.name not in REFUSING:
                    _wrap(implementation, guard)


def _wrap(implementation: pluggy.HookImpl, guard: Guard) -> None:
    wrap = guard.function
    if implementation.hookwrapper:
        wrap = guard.old_wrapper
    elif implementation.wrapper:
        wrap = guard.wrapper
    # Registering guarded copies instead would hide where a plugin's function is defined.
    guarded = wrap(implementation.function)
    implementation.function = guarded  # type: ignore[misc] # Final, but read at every call


@cache
def manager() -> Manager:
    """Return this process's manager with every usable plugin loaded, at the first hook."""
    made = Manager()
    for entry in find().group(PLUGINS):
        made.admit(entry)
    return made


def hooks() -> Any:
    """Return the relay on which hooks are called by name."""
    return manager().hook


def vocabulary() -> dict[str, dict[str, str]]:
    """Return the plugins' legal values by field, each with its meaning or an empty string."""
    return _vocabulary(manager())


@cache
def _vocabulary(source: Manager) -> dict[str, dict[str, str]]:
    merged: dict[str, dict[str, str]] = {}
    for offered in source.hook.mp_vocabulary():
        for field, meanings in offered.items():
            merged.setdefault(field, {}).update(meanings)
    return {field: dict(sorted(merged[field].items())) for field in sorted(merged)}


def aliases() -> dict[str, str]:
    """Return other projects' names for fields, as the plugins know them."""
    offered = cast("Iterable[Mapping[str, str]]", hooks().mp_aliases())
    return {alias: field for names in offered for alias, field in sorted(names.items())}
