"""Reading answers: what the wires of all providers share."""
