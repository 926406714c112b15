"""Achieved rates beside what the hardware could do, and when such a percentage would mislead."""

from runner.roofline.place import Placed, Seen, place

__all__ = ["Placed", "Seen", "place"]
