"""What the FP8 and FP4 plugins share of Transformer Engine: rules, and its recipe objects."""
