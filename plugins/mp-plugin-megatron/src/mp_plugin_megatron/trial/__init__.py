"""``mp try``: train a small real Megatron-Core model in the precision of a recipe."""
