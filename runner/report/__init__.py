"""Stored results side by side: on screen, as Markdown, CSV and JSON, and on to MLflow."""
