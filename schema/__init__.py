"""The shape that clients see: types, arguments and their descriptions, without decisions."""
