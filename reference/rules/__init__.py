"""The rules: pure integer functions that decide. The code that runs is the code that is lifted and
proved."""
