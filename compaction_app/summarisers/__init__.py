"""Who writes the summaries of compactions: one interface, and the default that needs no model."""
