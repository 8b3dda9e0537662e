"""The differential: that it finds every planted fault, and that the engine has none."""
