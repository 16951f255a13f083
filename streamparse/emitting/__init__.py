"""Writing answers: what the emitters of all providers share."""
