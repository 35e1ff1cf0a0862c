"""What other programs say of themselves."""

import subprocess

_PATIENCE_SECONDS = 20


def answer_of(*command: str) -> tuple[str, str]:
    """What a command prints on standard output and on standard error; nothing where it is not
    there or does not answer."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    return done.stdout, done.stderr
