"""The front door: a database, what can be asked of it and what changes it."""
