"""How people and agents word things: sentences, and by which words they show what they are."""
