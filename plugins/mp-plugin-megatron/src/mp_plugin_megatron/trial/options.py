"""What a trial is asked to do, as it travels from the command to the ranks."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

BATCH = 8
SEQUENCE = 64
HEADS = 4
#: Bytes are the tokens.
VOCABULARY = 256


@dataclass(frozen=True)
class Options:
    """A recipe expression, and the size and length of the run."""

    recipe: str
    ranks: int = 1
    steps: int = 50
    seed: int = 1234
    layers: int = 2
    hidden: int = 64

    def dump(self) -> str:
        """Return the options as JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Options:
        """Return the options that dump() wrote."""
        return cls(**json.loads(text))

    @property
    def tokens_per_step(self) -> int:
        """Tokens that all ranks see in one step."""
        return self.ranks * BATCH * SEQUENCE
