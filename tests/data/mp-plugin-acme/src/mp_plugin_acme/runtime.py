"""What stands for Acme's training library: the class that its layers take as a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Format(Enum):
    """An FP8 format."""

    E4M3 = "e4m3"


@dataclass
class AcmeScaling:
    """How Acme's layers scale FP8."""

    fp8_format: Format
    margin: int = 0
