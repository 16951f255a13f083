"""The comparison with other libraries: `make peers`."""
