"""What can be measured: one file per operation, with its variants, its reference and its cost."""
