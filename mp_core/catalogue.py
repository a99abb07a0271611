"""Which first-party distribution brings which recipe, for the error that says what to install."""

from __future__ import annotations

#: Recipe names by distribution; a test compares it with the distributions' own metadata.
CATALOGUE = {
    "mp-plugin-fp8-current": (
        "bf16_with_fp8_current_scaling_mixed",
        "fp16_with_fp8_current_scaling_mixed",
    ),
    "mp-plugin-fp8-delayed": (
        "bf16_with_fp8_delayed_scaling_mixed",
        "bf16_with_fp8_mixed",
        "fp16_with_fp8_delayed_scaling_mixed",
        "fp16_with_fp8_mixed",
    ),
    "mp-plugin-half": ("bf16_mixed", "fp16_mixed"),
    "mp-plugin-mxfp8": ("bf16_with_mxfp8_mixed", "fp16_with_mxfp8_mixed"),
    "mp-plugin-nemotron": (
        "nanov2_bf16_with_fp8_current_scaling_mixed",
        "nemotron_3_super_bf16_with_nvfp4_mixed",
        "nemotron_3_ultra_bf16_with_nvfp4_mixed",
        "nemotron_h_bf16_with_fp8_current_scaling_mixed",
    ),
    "mp-plugin-nvfp4": ("bf16_with_nvfp4_mixed",),
    "mp-plugin-subchannel": (
        "bf16_with_fp8_subchannel_scaling_mixed",
        "fp16_with_fp8_subchannel_scaling_mixed",
    ),
}


def distribution_of(recipe: str) -> str | None:
    """Return the first-party distribution that brings *recipe*, installed or not."""
    return next((dist for dist, names in CATALOGUE.items() if recipe in names), None)


def known_recipes() -> list[str]:
    """Return every first-party recipe name, sorted."""
    return sorted(name for names in CATALOGUE.values() for name in names)
