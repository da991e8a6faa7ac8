"""What a recorded session says, as values: entries, links, usage, and what they measure. Pure."""
