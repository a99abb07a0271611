"""Make a plan: ask the plugins, rehearse on copies, notice conflicts and what lands nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from mp_core.changes import RULE, Change
from mp_core.config import MixedPrecisionConfig
from mp_core.conflicts import Settled, refuse_conflicts, settle
from mp_core.errors import InvalidPrecision, PrecisionNotApplied, PrecisionRefused
from mp_core.expression import RecipeLike, get_mixed_precision_config
from mp_core.findings import Finding
from mp_core.landing import ALONE, landing_notes
from mp_core.ledger import Record, Written, baseline, differs, recall
from mp_core.machine import here
from mp_core.plan import Conflict, Note, Plan, is_first_rank
from mp_core.plugins import hooks
from mp_core.rehearsal import rehearse
from mp_core.settings import dead_knobs
from mp_core.situation import Situation, situation_of
from mp_core.verdicts import findings as find

T = TypeVar("T")
POLICIES = ("error", "keep", "warn")
CHECKS = ("error", "off", "warn")


class Draft(NamedTuple):
    """What was found for one target; *clean* is a copy of it as it is without recipes."""

    target: object
    clean: object
    spoken: frozenset[str]
    settled: Settled


class Rehearsed(NamedTuple):
    """A draft tried out: *final* is a copy as the target will be."""

    draft: Draft
    final: object
    changes: list[Change]
    notes: list[Note]


def make_plan(  # noqa: PLR0913 # three targets and two policies, as MixedPrecisionConfig.setup
    config: RecipeLike,
    model_config: object | None = None,
    optimizer_config: object | None = None,
    ddp_config: object | Sequence[object] | None = None,
    *,
    on_conflict: str = "warn",
    check: str = "warn",
    situation: Any = None,
) -> Plan:
    """Return what applying *config* to the targets would do; nothing is changed.

    Parameters and errors as MixedPrecisionConfig.setup; *config* may also be a name.
    """
    _one_of("on_conflict", on_conflict, POLICIES)
    _one_of("check", check, CHECKS)
    targets = _labelled(model_config, optimizer_config, ddp_config)
    resolved = get_mixed_precision_config(config)
    where = here() if situation is None else situation_of(situation)
    return _plan(resolved, targets, on_conflict, check, where)


def _plan(
    resolved: MixedPrecisionConfig,
    targets: dict[str, object],
    on_conflict: str,
    check: str,
    situation: Situation,
) -> Plan:
    drafts = [_draft(resolved, target, on_conflict) for target in targets.values()]
    if on_conflict == "error":
        refuse_conflicts(resolved, [c for draft in drafts for c in draft.settled.conflicts])
    rehearsed = [_rehearsed(resolved, draft) for draft in drafts]
    proposed = [change for draft in drafts for change in draft.settled.changes]
    notes = [note for each in rehearsed for note in each.notes]
    notes += landing_notes(resolved, targets, proposed)
    notes += [
        Note(f"{k} does nothing: {why}", loud=True) for k, why in dead_knobs(resolved).items()
    ]
    finals = tuple(each.final for each in rehearsed)
    findings = _findings(resolved, situation.of_configs(finals), check)
    return _assemble(resolved, targets, rehearsed, notes, findings)


def update_config_with_precision_overrides(
    mixed_precision_config: RecipeLike, config: T, *, on_conflict: str = "warn"
) -> T:
    """Apply *mixed_precision_config* to one config, be it a model's, an optimizer's or a DDP's.

    Returns that config. Values that belong in the others are left to them, and findings, which
    need all of them, are not looked for. Errors as MixedPrecisionConfig.setup.
    """
    _one_of("on_conflict", on_conflict, POLICIES)
    resolved = get_mixed_precision_config(mixed_precision_config)
    plan = _plan(resolved, {ALONE: config}, on_conflict, "off", Situation())
    plan.report()
    plan.apply()
    return config


def _one_of(name: str, value: str, legal: tuple[str, ...]) -> None:
    if value not in legal:
        raise InvalidPrecision(f"{name}={value!r}; legal: {', '.join(map(repr, legal))}")


def _labelled(model: object, optimizer: object, ddp: Any) -> dict[str, object]:
    several = list(ddp) if isinstance(ddp, (list, tuple)) else [ddp]
    ddps = {f"ddp[{i}]": each for i, each in enumerate(several)}
    targets = {"model": model, "optimizer": optimizer, **(ddps if len(several) > 1 else {})}
    if len(several) == 1:
        targets["ddp"] = several[0]
    given = {label: target for label, target in targets.items() if target is not None}
    if not given:
        raise InvalidPrecision("no target: give a model, optimizer or DDP config")
    return given


def _draft(config: MixedPrecisionConfig, target: object, on_conflict: str) -> Draft:
    clean, spoken = baseline(target)
    proposed = hooks().mp_apply(config=config, target=clean)
    if proposed is None:
        kind = f"{type(target).__module__}.{type(target).__qualname__}"
        message = f"no installed plugin applies a recipe to {kind}"
        raise PrecisionNotApplied(f"{message}: for Megatron-Core, pip install mp-plugin-megatron")
    return Draft(target, clean, spoken, settle(config, proposed, spoken, on_conflict))


def _rehearsed(config: MixedPrecisionConfig, draft: Draft) -> Rehearsed:
    proposed = draft.settled.changes
    final, notes = rehearse(config, draft.clean, proposed)
    return Rehearsed(draft, final, _differences(draft.target, final, proposed), notes)


def _record(config: MixedPrecisionConfig, draft: Draft, final: object) -> Record:
    """Return what to remember of the draft's target once *final* is carried out."""
    before = vars(draft.clean)
    written = {
        name: Written(before.get(name), value)
        for name, value in vars(final).items()
        if before.get(name) is not value and differs(before.get(name), value)
    }
    explicit = recall(draft.target).explicit | (draft.spoken & written.keys())
    return Record(written, explicit, config.recipe or "")


def _on(change: Change, target: object, **updates: Any) -> Change:
    return change._replace(target=target, **updates)


def _differences(target: object, final: object, proposed: Iterable[Change]) -> list[Change]:
    """Return every field of *target* with an opinion or another value in *final*."""
    known = {change.field: change for change in proposed}
    record, state = recall(target), vars(target)
    found = []
    for name, new in vars(final).items():
        old = state.get(name)
        if old is new and name not in known:
            continue
        if name in known and not differs(known[name].new, new):
            found.append(_on(known[name], target, old=old))
        elif name in known:
            reason = f"{type(target).__name__} itself makes {known[name].new} this"
            found.append(_on(known[name], target, old=old, new=new, origin=RULE, reason=reason))
        elif differs(old, new):
            again = f"derived again by {type(target).__name__}"
            taken = f"takes back {record.recipe or 'the recipe before'}"
            reason = taken if name in record.written else again
            found.append(Change(target, name, old, new, RULE, reason))
    return found


def _findings(config: MixedPrecisionConfig, situation: Situation, check: str) -> list[Finding]:
    # Every rank refuses alike; to be warned once is enough.
    if check == "off" or (check == "warn" and not is_first_rank()):
        return []
    findings = find(config, situation)
    errors = [finding for finding in findings if finding.severity == "error"]
    if check == "error" and errors:
        raise PrecisionRefused("\n".join(map(str, errors)))
    return findings


def _assemble(
    config: MixedPrecisionConfig,
    targets: Mapping[str, object],
    rehearsed: list[Rehearsed],
    notes: list[Note],
    findings: list[Finding],
) -> Plan:
    drafts = [each.draft for each in rehearsed]
    changes = [change for each in rehearsed for change in each.changes]
    kept = [_on(change, draft.target) for draft in drafts for change in draft.settled.kept]
    conflicts = [
        Conflict(_on(conflict.change, draft.target), conflict.remedy)
        for draft in drafts
        for conflict in draft.settled.conflicts
    ]
    keeps = {(id(change.target), change.field) for change in kept}
    stays = [change for change in changes if not differs(change.old, change.new)]
    return Plan(
        config=config,
        targets=dict(targets),
        changes=tuple(change for change in changes if differs(change.old, change.new)),
        stays=tuple(change for change in stays if (id(change.target), change.field) not in keeps),
        kept=tuple(kept),
        conflicts=tuple(conflicts),
        notes=tuple(notes),
        findings=tuple(findings),
        records=tuple((e.draft.target, _record(config, e.draft, e.final)) for e in rehearsed),
    )
