"""What was lost: anchors in the part that a compaction removed, and where they survived.

No model and no randomness: the same messages always give the same anchors.
"""
