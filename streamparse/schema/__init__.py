"""A tool's JSON Schema: made of annotations, walked, reduced for a provider, and used to check and convert values.

| module | what it does |
|---|---|
| `annotations`, `docstring` | read a Python function or type |
| `walk` | knows where schemas hold schemas, and resolves references |
| `kinds` | says what a place in a schema permits, and makes JSON of a text by it |
| `openapi`, `strict` | write a schema for providers that take less than JSON Schema, or enforce it |
| `validation`, `rewriting`, `cost`, `ecma_regex` | check values, with jsonschema-rs, in bounded time |
| `conversions` | make values of the types that a schema wants, where nothing is lost |
"""
