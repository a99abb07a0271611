"""A Megatron-LM argument file by Megatron's own field names."""

from __future__ import annotations

import re
import shlex
from typing import Any

from mp_core.errors import InvalidPrecision
from mp_core.fields import COUNTS, KNOWN, SIZES, SWITCHES, checked

#: Arguments whose name is not the field's: Megatron-LM, megatron/training/arguments.py.
RENAMED = {
    "accumulate_allreduce_grads_in_fp32": "grad_reduce_in_fp32",
    "fp4_format": "fp4",
    "fp8_format": "fp8",
    "num_experts": "num_moe_experts",
    "swiglu": "gated_linear_unit",
}
#: Flags that set another field to a value.
SETS: dict[str, tuple[str, Any]] = {
    "disable_bias_linear": ("add_bias_linear", False),
    "recompute_activations": ("recompute_granularity", "selective"),
}
FLAG = re.compile(r"^\s*(\w+=\()?\s*--[a-z]", re.MULTILINE)
MAPPING = re.compile(r"^(\{|['\"]?\w+['\"]?\s*:(\s|$))", re.MULTILINE)


def is_arguments(text: str) -> bool:
    """Return whether the text is lines of ``--name value``."""
    return bool(FLAG.search(text)) and not MAPPING.search(text)


def arguments(file: str, text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments by Megatron's field names, and what is not understood.

    A flag without a value is True. Raises InvalidPrecision for a value that is not legal.
    """
    flags, unread = _flags(file, text)
    facts: dict[str, Any] = {}
    for flag, words in flags:
        argument = flag[2:].replace("-", "_")
        name = RENAMED.get(argument, argument)
        if any("$" in word for word in words):
            unread.append(f"{flag} {' '.join(words)} (a shell variable: write its value)")
        elif argument in SETS and not words:
            facts.update([SETS[argument]])
        elif argument.startswith("no_") and argument[3:] in SWITCHES and not words:
            facts[argument[3:]] = False
        else:
            facts[name] = checked(file, name, _value(name, words), flag)
    return _grouped(facts), unread


def _flags(file: str, text: str) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Return each flag with its values in the order written, and the words before the first."""
    try:
        words = shlex.split(text.replace("\\\r\n", " ").replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise InvalidPrecision(
            f"{file}: {error}; close the quote, one --name value a line"
        ) from error
    flags: list[tuple[str, list[str]]] = []
    unread = []
    for word in words:
        if re.fullmatch(r"\)|\w+\+?=\(", word):
            continue
        flag, equals, value = re.sub(r"^\w+\+?=\((?=--)", "", word).partition("=")
        if re.match(r"--[A-Za-z]", flag):
            flags.append((flag, [value] if equals else []))
        elif flags:
            flags[-1][1].append(word)
        else:
            unread.append(word)
    return flags, unread


def _value(name: str, words: list[str]) -> Any:
    """Return the words after a flag in the type of its field."""
    if name == "moe_layer_freq":
        # Unquoted, the shell's words are one expression; a plain number stays a number.
        text = "".join(words)
        return int(text) if text.isdecimal() else text
    if not words:
        return True
    if len(words) > 1 or name == "recompute_modules":
        return words
    number = name in SIZES | COUNTS or name not in KNOWN
    return int(words[0]) if number and re.fullmatch(r"-?\d+", words[0]) else words[0]


def _grouped(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts with query groups only where Megatron reads them."""
    # arguments.py passes --num-query-groups on only with --group-query-attention; its default is 1.
    grouped = facts.pop("group_query_attention", False)
    groups = facts.pop("num_query_groups", 1)
    return facts | ({"num_query_groups": groups} if grouped else {})
