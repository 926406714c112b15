"""Declarative experiment runner for PyTorch performance."""
