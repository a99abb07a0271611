"""Mixed-precision recipes on Megatron-Core configs."""
