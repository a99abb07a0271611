"""Precision by module: Megatron's own file of it, written, read and checked."""
