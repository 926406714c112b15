"""Two sides of stored results, a verdict per combination, and an exit code for CI."""
