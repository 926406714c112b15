"""What differs between devices, behind one Protocol, and how a device's name is resolved."""
