"""Facts planted in real transcripts at known places: how well they are found, and found again."""
