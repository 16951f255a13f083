"""Calls and thoughts in text: the engine that every format runs on."""
