"""FP8 recipes with delayed scaling, by name, for mp-core."""
