"""Writing requests: what the messages and requests of all providers share."""
