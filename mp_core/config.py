"""MixedPrecisionConfig: one precision recipe as plain data, with the origin of every value."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mp_core.changes import OVERRIDE, RECIPE, RULE, Origin
from mp_core.dtypes import DtypeField
from mp_core.errors import InvalidPrecision, closest

if TYPE_CHECKING:
    from typing_extensions import Self

    from mp_core.plan import Plan

#: Fields that state one fact twice: the model's parameters and how they are gathered.
PAIRS = (("fp8_param", "fp8_param_gather"), ("fp4_param", "fp4_param_gather"))
PARTNERS = dict(PAIRS) | {gather: param for param, gather in PAIRS}


@dataclass(repr=False, eq=False)
class MixedPrecisionConfig:
    """The precision of a training run: base mode, FP8, FP4, gradient reduction, loss scale.

    None means no opinion, except that ``fp8=None`` and ``fp4=None`` mean off. Dtypes are accepted
    as torch.dtype or name and read as torch.dtype. Raises InvalidPrecision (a ValueError) when a
    pair such as ``fp8_param`` and ``fp8_param_gather`` is given twice and differs.
    """

    fp32: bool = False
    fp16: bool = False
    bf16: bool = False
    params_dtype: DtypeField = DtypeField()
    pipeline_dtype: DtypeField = DtypeField()
    autocast_dtype: DtypeField = DtypeField()
    autocast_enabled: bool = False
    grad_reduce_in_fp32: bool = True
    fp8: str | None = None
    fp8_recipe: str = "delayed"
    first_last_layers_bf16: bool = False
    fp8_margin: int = 0
    fp8_amax_history_len: int = 1
    fp8_amax_compute_algo: str = "most_recent"
    fp8_wgrad: bool = True
    fp8_dot_product_attention: bool = False
    fp8_multi_head_attention: bool = False
    fp8_param: bool | None = None
    fp8_param_gather: bool = False
    loss_scale: float | None = None
    initial_loss_scale: float | None = 4294967296
    min_loss_scale: float = 1.0
    loss_scale_window: float = 1000
    hysteresis: int = 2
    num_layers_at_start_in_bf16: int = 0
    num_layers_at_end_in_bf16: int = 0
    fp4: str | None = None
    fp4_recipe: str = "nvfp4"
    fp4_param: bool | None = None
    fp4_param_gather: bool = False
    reuse_grad_buf_for_mxfp8_param_ag: bool = False

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Remember which fields are given, and refuse an unknown one with the closest name."""
        self = super().__new__(cls)
        names = cls.__dataclass_fields__
        for name in kwargs.keys() - names.keys():
            raise TypeError(f"{cls.__name__} has no field {name!r}{closest(name, names)}")
        self.__dict__["_given"] = {*list(names)[: len(args)], *kwargs}
        return self

    def __init_subclass__(cls) -> None:
        # @dataclass on a subclass would replace these by versions that import torch.
        for method in ("__repr__", "__eq__", "__replace__"):
            if method not in cls.__dict__:
                setattr(cls, method, getattr(cls, method))

    def __post_init__(self) -> None:
        given = self.__dict__.pop("_given")
        check_pairs({name: getattr(self, name) for name in PARTNERS if name in given})
        self.__dict__.update(_origins={}, _recipe=None, _said=given)
        for first, second in PAIRS:
            for name in (first, second):
                if name in given and PARTNERS[name] not in given:
                    self._agree(name)

    def __setattr__(self, name: str, value: object) -> None:
        if "_origins" not in self.__dict__:
            object.__setattr__(self, name, value)
        elif name in type(self).__dataclass_fields__:
            self._set(name, value, OVERRIDE)
        else:
            names = type(self).__dataclass_fields__
            message = f"{type(self).__name__} has no field {name!r}{closest(name, names)}"
            raise AttributeError(message)

    def _set(self, name: str, value: object, origin: Origin) -> None:
        object.__setattr__(self, name, value)
        self.__dict__["_origins"][name] = origin
        self.__dict__["_said"].add(name)
        if name in PARTNERS:
            self._agree(name)

    def _agree(self, name: str) -> None:
        """Give the partner of *name* its value; a parameter field set to None asks the gather."""
        stored, partner = self.__dict__, PARTNERS[name]
        if stored[name] is None:
            name, partner = partner, name
        if bool(stored[name]) != bool(stored[partner]):
            stored[partner] = stored[name]
            stored["_origins"][partner] = RULE

    def __copy__(self) -> Self:
        new = object.__new__(type(self))
        stored = self.__dict__
        new.__dict__.update(stored, _origins={**stored["_origins"]}, _said={*stored["_said"]})
        return new

    @property
    def recipe(self) -> str | None:
        """The name of the recipe this config was made by, or None."""
        recipe: str | None = self.__dict__["_recipe"]
        return recipe

    def origin(self, name: str) -> Origin:
        """Return where the value of field *name* comes from."""
        origins: Mapping[str, Origin] = self.__dict__["_origins"]
        return origins.get(name, RECIPE)

    def is_set(self, name: str) -> bool:
        """Return whether the recipe or an override set field *name*, be it to its default."""
        said: set[str] = self.__dict__["_said"]
        return name in said

    def replace(self, **changes: object) -> Self:
        """Return a copy with *changes*, each marked as an override; the pairs agree again.

        Unlike dataclasses.replace, which hands every field to the constructor, this knows which
        of a pair was given. Raises AttributeError for an unknown field.
        """
        check_pairs(changes)
        new = copy.copy(self)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    __replace__ = replace

    def to_dict(self) -> dict[str, Any]:
        """Return every field as plain data, dtypes by name; the constructor accepts it back."""
        stored = self.__dict__
        return {name: stored[name] for name in self.__dataclass_fields__}

    def validate(self) -> None:
        """Raise InvalidPrecision naming each illegal value with the legal ones."""
        from mp_core.validation import validate

        validate(self)

    def setup(  # noqa: PLR0913 # three targets, two policies, and where it runs
        self,
        model_config: object | None,
        optimizer_config: object | None = None,
        ddp_config: object | Sequence[object] | None = None,
        *,
        on_conflict: str = "warn",
        check: str = "warn",
        situation: Any = None,
    ) -> Plan:
        """Apply this config to the targets, all or none, and return the plan that was carried out.

        ddp_config: one object or several. on_conflict: what to do where the user's explicit value
        differs: ``warn`` (the recipe wins), ``error`` (nothing changes), ``keep``. check: what to
        do with findings: ``error`` (refuse on one of error severity), ``warn``, ``off``. situation:
        what the configs do not hold, as mp_core.check takes; None: this machine, detected.
        Raises PrecisionNotApplied, PrecisionRefused, PrecisionConflict, before anything changes.
        """
        from mp_core.planner import make_plan

        targets = (model_config, optimizer_config, ddp_config)
        policies = {"on_conflict": on_conflict, "check": check}
        plan = make_plan(self, *targets, **policies, situation=situation)
        plan.report()
        plan.apply()
        return plan

    def te_recipe(self, situation: Any = None) -> object | None:
        """Return the recipe object of Transformer Engine, or a vendor's, that this config means.

        situation: as mp_core.check takes; where it gives a version of Transformer Engine, the
        fields are that version's. None where no FP8 or FP4 is on. Raises InvalidPrecision naming
        a setting that the class has no field for, and ClassMissing where it is not installed.
        """
        from mp_core.recipe_calls import recipe_call

        call = recipe_call(self, situation)
        return None if call is None else call.build()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment] # equal by value and mutable, as a dataclass is

    def __repr__(self) -> str:
        fields = self.__dataclass_fields__
        shown = [f"{k}={v!r}" for k, v in self.to_dict().items() if v != fields[k].default]
        return f"{type(self).__name__}({', '.join(shown)})"


def check_pairs(given: Mapping[str, object]) -> None:
    """Raise InvalidPrecision where both fields of a pair are given and differ."""
    for first, second in PAIRS:
        one, two = given.get(first), given.get(second)
        if one is not None and two is not None and one != two:
            message = f"{first}={one!r} and {second}={two!r} contradict each other"
            hint = "give one of them; to change one on a copy use config.replace(...)"
            raise InvalidPrecision(f"{message}: {hint}")


def name_recipe(config: MixedPrecisionConfig, name: str) -> None:
    """Mark *config* as made by recipe *name*: what its factory set is the recipe's own word."""
    origins = config.__dict__["_origins"]
    kept = {field: origin for field, origin in origins.items() if origin.kind == "base recipe"}
    config.__dict__.update(_recipe=name, _origins=kept)


def name_base(config: MixedPrecisionConfig, base: str) -> None:
    """Mark every value of *config* as coming from *base*, or from what *base* builds on."""
    every = dict.fromkeys(type(config).__dataclass_fields__, Origin("base recipe", base))
    config.__dict__["_origins"] = every | config.__dict__["_origins"]
