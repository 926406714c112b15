"""From one command line to many combinations: axes, composition, plan, order, slots."""
