"""What people write where they have no runner, and our own work without isolation."""
