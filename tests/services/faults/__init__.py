"""Faults on purpose: a worker that kills itself at a step, and a driver that looks at what is left."""
