"""FP8 recipes with current (tensorwise) scaling, by name, for mp-core."""
