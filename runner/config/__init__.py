"""What a config may hold, and its way from YAML and the command line to plain values."""
