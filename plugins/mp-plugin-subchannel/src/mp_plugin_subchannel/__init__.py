"""FP8 recipes with subchannel (blockwise) scaling, by name, for mp-core."""
