"""What this machine can measure, what would spoil a measurement now, and what to do about it."""
