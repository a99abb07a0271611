"""BF16 and FP16 mixed-precision recipes, by name, for mp-core."""
