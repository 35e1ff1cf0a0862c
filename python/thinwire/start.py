"""Entry point of the `thinwire` command: it imports next to nothing, so that an interrupt while the
rest is imported ends the process as it ends any other program, without a traceback."""

import signal


def main() -> None:
    """Runs the command."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where the caller has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from thinwire.cli import run_command

    run_command(handler)
