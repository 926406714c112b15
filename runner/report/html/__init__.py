"""The report as one file that opens anywhere: no request leaves it, no script is in it."""
