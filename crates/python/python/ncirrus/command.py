"""The command ``ncirrus``: ``python -m ncirrus`` or the script that the wheel installs."""

import signal
import sys

from ncirrus._ncirrus import run_command_line


def main() -> int:
    """Runs the command with the arguments of the process; returns its exit code."""
    # The command never comes back to the interpreter, which would act on Ctrl-C and on a closed pipe only then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command_line(["ncirrus", *sys.argv[1:]])
