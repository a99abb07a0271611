"""The recipes of the Nemotron models, by name, for mp-core."""
