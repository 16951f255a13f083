"""The families in which models write calls, a grammar for each."""
