"""What an append is compared with: an endpoint that authenticates and writes one row, and nothing else."""
