"""The command line: one verb a module, one line an error, four exit codes."""


def main() -> None:
    """Enter the command line; the verbs are imported here and nowhere else."""
    from truehit.cli.app import enter

    enter()
