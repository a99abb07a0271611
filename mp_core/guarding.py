"""Guards around hook implementations: one that fails is reported by name and costs itself."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from functools import wraps
from typing import Any

from mp_core.changes import Change, Home
from mp_core.config import MixedPrecisionConfig
from mp_core.discovery import RECIPES, Entry
from mp_core.errors import MixedPrecisionError, PluginError
from mp_core.findings import Advice, Finding, Rule
from mp_core.loading import plugin_error

Report = Callable[[Entry, PluginError], None]


class Guard:
    """Wraps the implementations of one hook in one plugin.

    first: the hook takes the first answer; a failure is then raised, and an error of mp_core is
    an answer. Elsewhere it is given to *report*, and the other plugins' results stay.
    """

    def __init__(self, entry: Entry, hook: str, report: Report, *, first: bool) -> None:
        self.entry, self.hook, self.report, self.first = entry, hook, report, first

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a plain implementation guarded; a result that is lazy is read in it."""

        @wraps(function)
        def guarded(*arguments: object) -> Any:
            try:
                return self._read(function(*arguments))
            except BaseException as error:  # noqa: BLE001 # SystemExit too costs one plugin
                self._failed(error)
                return None

        return guarded

    def wrapper(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a new-style wrapper guarded: one that fails leaves the result as it was."""

        @wraps(function)
        def guarded(*arguments: object) -> Generator[None, Any, Any]:
            running = self._started(function, arguments)
            try:
                result = yield
            except BaseException as error:
                if running is None:
                    raise
                return self._resumed(running, error)
            return result if running is None else self._finished(running, result)

        return guarded

    def old_wrapper(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return an old-style wrapper, which is sent a pluggy.Result, guarded."""

        @wraps(function)
        def guarded(*arguments: object) -> Generator[None, Any, None]:
            running = self._started(function, arguments)
            result = yield
            if running is not None:
                self._finished(running, result)

        return guarded

    def _started(self, function: Callable[..., Any], arguments: Iterable[object]) -> Any:
        try:
            running = function(*arguments)
            next(running)
        except BaseException as error:  # noqa: BLE001 # as in function()
            self._failed(error)
            return None
        return running

    def _finished(self, running: Any, result: Any) -> Any:
        try:
            running.send(result)
        except StopIteration as stop:
            return stop.value
        except BaseException as error:  # noqa: BLE001 # as in function()
            self._failed(error)
        else:
            self._failed(RuntimeError("a wrapper yields once"))
        return result

    def _resumed(self, running: Any, error: BaseException) -> Any:
        """Let a wrapper see the hook's own *error*, which it may turn into a result."""
        try:
            running.throw(error)
        except StopIteration as stop:
            return stop.value
        except BaseException as raised:  # noqa: BLE001 # as in function()
            if raised is not error:
                self._failed(raised)
        raise error

    def _read(self, result: Any) -> Any:
        if result is None:
            return None
        if self.hook in READERS:
            return READERS[self.hook](self.entry, result)
        return result

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
            raise error
        if self.first and isinstance(error, MixedPrecisionError):
            raise error
        failure = plugin_error(self.entry.display, f"failed in {self.hook}", error)
        if self.first:
            raise failure from error
        self.report(self.entry, failure)


def _mapping(entry: Entry, result: Any) -> dict[str, Any]:
    return dict(_instance(result, Mapping))


def _words(entry: Entry, result: Any) -> dict[str, dict[str, str]]:
    """Return legal values by field, each with its meaning or an empty string."""
    return {field: _meanings(values) for field, values in _mapping(entry, result).items()}


def _meanings(values: Any) -> dict[str, str]:
    if isinstance(values, str):
        raise TypeError(f"it gives the string {values!r} where several values belong")
    return dict(values) if isinstance(values, Mapping) else dict.fromkeys(values, "")


def _offers(entry: Entry, result: Any) -> list[tuple[Entry, Any]]:
    """Return each factory with what to call it in messages and in conflicts."""
    who = entry._replace(group=RECIPES, target="mp_recipes()")
    return [(who._replace(name=name), made) for name, made in _mapping(entry, result).items()]


def _each(kind: type) -> Callable[[Entry, Any], list[Any]]:
    return lambda entry, result: [_instance(each, kind) for each in result]


def _config(entry: Entry, result: Any) -> Any:
    return _instance(result, MixedPrecisionConfig)


def _call(entry: Entry, result: Any) -> Any:
    from mp_core.calls import Call

    return _instance(result, Call)


def _bytes(entry: Entry, result: Any) -> Any:
    from mp_core.memory import Bytes

    return _instance(result, Bytes)


def _facts(entry: Entry, result: Any) -> dict[str, Any]:
    from mp_core.situation import MACHINE, fact_value

    facts = _mapping(entry, result)
    if unknown := sorted(set(facts) - set(MACHINE)):
        raise TypeError(f"it detects {', '.join(unknown)}; facts are {', '.join(MACHINE)}")
    return {name: fact_value(name, value) for name, value in facts.items()}


def _places(entry: Entry, result: Any) -> dict[str, tuple[Any, ...]]:
    from mp_core.requirements import Place

    rows = _mapping(entry, result)
    return {code: tuple(_instance(row, Place) for row in rows[code]) for code in rows}


def _instance(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"it gives a {type(value).__name__}, not a {kind.__name__}")
    return value


#: How a hook's answer is read inside the guard, where what is wrong with it is its plugin's.
READERS: dict[str, Callable[[Entry, Any], Any]] = {
    "mp_advice": _each(Advice),
    "mp_aliases": _mapping,
    "mp_apply": _each(Change),
    "mp_build_recipe": _config,
    "mp_bytes_per_parameter": _bytes,
    "mp_check": _each(Finding),
    "mp_detect": _facts,
    "mp_devices": _mapping,
    "mp_homes": _each(Home),
    "mp_recipes": _offers,
    "mp_rules": _each(Rule),
    "mp_targets": _mapping,
    "mp_te_recipe": _call,
    "mp_places": _places,
    "mp_variables": _mapping,
    "mp_vocabulary": _words,
}
