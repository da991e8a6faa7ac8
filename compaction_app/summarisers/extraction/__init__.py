"""Finding and arranging what a summary without a model quotes."""
