"""MLflow's own interface, opened on the answer: loopback only, small, and ended with us."""
