"""The NVFP4 recipe, by name, for mp-core."""
