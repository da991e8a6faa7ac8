"""Which stretches of a text are secrets. Pure: texts in, spans out; every rule costs linear time."""
