"""What a recipe costs in memory: bytes per parameter of weights, gradients, optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mp_core.errors import InvalidPrecision
from mp_core.situation import UNKNOWN

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig
    from mp_core.situation import Situation

Basis = Literal["documented", "derived"]
DOCUMENTED = "Megatron-LM docs/user-guide/features/dist_optimizer.md"
AWARE = "megatron-core optimizer/optimizer_config.py; TransformerEngine fused_adam.py"
#: Bytes of a value by the names that configs and argument files give a dtype.
SIZES = {
    "float32": 4.0,
    "fp32": 4.0,
    "float16": 2.0,
    "fp16": 2.0,
    "bfloat16": 2.0,
    "bf16": 2.0,
    "fp8": 1.0,
    "uint8": 1.0,
}
#: What TransformerEngine keeps of a 32-bit main parameter beside a BF16 one.
REMAINDER = 2.0


class Bytes(NamedTuple):
    """What a weight takes: bytes per parameter, and where that is from.

    basis: documented, or derived from source code. source: what a reader can open. text: what
    is kept, in a few words.
    """

    weights: float
    basis: Basis
    source: str
    text: str


class Cost(NamedTuple):
    """Bytes of weights, gradients, main parameters and moments; of one parameter or of many."""

    weights: float
    gradients: float
    main: float
    moments: float

    def sharded(self, ranks: int) -> Cost:
        """Return the cost on a rank of *ranks* that share the optimizer's state."""
        return self._replace(main=self.main / ranks, moments=self.moments / ranks)

    def times(self, parameters: float) -> Cost:
        """Return the cost of so many parameters."""
        return Cost(*(each * parameters for each in self))

    def total(self) -> float:
        """Return all bytes together."""
        return sum(self)


def weight_bytes(config: MixedPrecisionConfig, situation: Situation) -> Bytes:
    """Return what a linear layer's weight takes under *config*, as its precision's plugin says.

    Raises InvalidPrecision where no installed plugin knows the precision.
    """
    from mp_core.plugins import hooks

    hook = hooks().mp_bytes_per_parameter
    said: Bytes | None = hook(config=config, situation=situation) if hook else None
    if said is not None:
        return said
    if config.fp8 or config.fp4:
        name = config.fp4_recipe if config.fp4 else config.fp8_recipe
        message = f"no installed plugin knows the memory of {name!r}"
        raise InvalidPrecision(f"{message}; install the plugin of this precision (mp list)")
    return plain_bytes(config)


def plain_bytes(config: MixedPrecisionConfig) -> Bytes:
    """Return what a parameter takes that FP8 and FP4 leave alone: that of ``params_dtype``."""
    dtype = base_dtype(config)
    return Bytes(SIZES[dtype], "documented", DOCUMENTED, f"parameters in {dtype}")


def parameter_cost(
    config: MixedPrecisionConfig, situation: Situation, *, matrix: bool = True
) -> Cost:
    """Return the bytes of one parameter before the optimizer's state is shared out.

    matrix: a linear layer's weight; others stay in ``params_dtype``. Raises InvalidPrecision for
    an optimizer whose state is not known here.
    """
    weights = weight_bytes(config, situation) if matrix else plain_bytes(config)
    dtype = base_dtype(config)
    gradients = 4.0 if config.grad_reduce_in_fp32 else SIZES[dtype]
    if situation.value("use_precision_aware_optimizer") is True:
        held = matrix and bool(config.fp8_param or config.fp4_param)
        return Cost(weights.weights, gradients, *_aware(config, situation, gradients, held))
    main = 0.0 if dtype == "float32" else SIZES["float32"]
    # A 16-bit gradient is copied to 32 bits for the step, and the copy is sharded as the rest.
    copied = 4.0 if gradients < SIZES["float32"] else 0.0
    return Cost(weights.weights, gradients, main + copied, _moments(situation))


def basis(config: MixedPrecisionConfig, situation: Situation) -> tuple[Basis, str]:
    """Return whether the cost is documented as a whole or derived in part, and its sources."""
    weights = weight_bytes(config, situation)
    aware = situation.value("use_precision_aware_optimizer") is True
    sources = [weights.source, AWARE if aware else DOCUMENTED]
    kind: Basis = "derived" if aware else weights.basis
    return kind, "; ".join(dict.fromkeys(sources))


def base_dtype(config: MixedPrecisionConfig) -> str:
    """Return the name of the dtype that parameters have outside of FP8 and FP4."""
    named = config.to_dict()["params_dtype"]
    return str(named or ("bfloat16" if config.bf16 else "float16" if config.fp16 else "float32"))


def _named(situation: Situation, fact: str) -> float:
    """Return the bytes of the dtype that *fact* names, 32-bit where nobody gave one."""
    value = situation.value(fact)
    name = "float32" if value in (UNKNOWN, None) else str(value).replace("torch.", "")
    if name not in SIZES:
        known = ", ".join(sorted(SIZES))
        raise InvalidPrecision(f"{fact}={name} has no size known here; known: {known}")
    return SIZES[name]


def _moments(situation: Situation) -> float:
    name: Any = situation.value("optimizer") or "adam"
    if name == "sgd":
        return 4.0 if situation.value("sgd_momentum") != 0 else 0.0
    if name != "adam":
        message = f"the state of optimizer {name!r} is not known here"
        raise InvalidPrecision(f"{message}; known: adam, sgd")
    return 8.0


def _aware(
    config: MixedPrecisionConfig, situation: Situation, gradients: float, held: bool
) -> tuple[float, float]:
    """Return main parameters and moments of the precision-aware optimizer.

    held: the model's own parameter is in FP8 or FP4.
    """
    moments = _named(situation, "exp_avg_dtype") + _named(situation, "exp_avg_sq_dtype")
    main = _named(situation, "main_params_dtype")
    delayed = not config.fp8 or config.fp8_recipe == "delayed"
    whole = main == SIZES["float32"]
    if whole and not delayed and situation.value("optimizer_cpu_offload") is not True:
        return main + (4.0 if gradients < SIZES["float32"] else 0.0), moments
    remainders = situation.value("store_param_remainders") is not False
    if whole and remainders and not held and base_dtype(config) == "bfloat16":
        main = REMAINDER
    return main, moments
