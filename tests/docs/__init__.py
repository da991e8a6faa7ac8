"""The pages about the rules, held against the engine; ``python -m tests.docs`` writes the computed ones."""
