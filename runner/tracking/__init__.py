"""Results as MLflow runs: what is logged under which name, and when the store is touched."""
