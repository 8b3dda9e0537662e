"""The command line: one verb a module, one line an error, four exit codes."""


def main() -> None:
    """Enter the command line."""
