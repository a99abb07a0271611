"""MXFP8 recipes, by name, for mp-core."""
