"""Processes: a warm server to fork from, children that measure, and the parent that waits."""
