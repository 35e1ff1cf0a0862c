"""Runs a command on a host of a lab, from outside: `enter PROCESS NET UTS COMMAND...`.

PROCESS is the lab's process; NET and UTS are its descriptors of the host. Environment, folder,
terminal and exit status are the caller's and the command's.

A program, run by its path: joining namespaces changes the whole process, and must not happen in
the caller's. It stays behind as the command's parent, because only a child can be in the lab's
pid namespace, and passes signals on to it.
"""

# ruff: noqa: E402 - an interrupt during the imports ends this as it ends any other program
import _signal  # type: ignore[import-not-found]

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import os
import signal
import sys

from namespaces import die_with_parent, join_host, join_lab, open_host
from signals import forward_signals


def main() -> int:
    process, net, uts, *command = sys.argv[1:]
    host = open_host(process, int(net), int(uts))
    try:
        os.getcwd()
    except FileNotFoundError:
        print("thinwire lab: the current folder is gone: change to another one", file=sys.stderr)
        return 126
    join_lab(process)
    join_host(host)
    child = os.fork()
    if child == 0:
        return run(command)
    forward_signals(child)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        end_by(os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


def run(command: list[str]) -> int:
    """Becomes the command; returns, as a shell would, 127 or 126 if that fails."""
    die_with_parent()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"thinwire lab: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


def end_by(number: int) -> None:
    """Ends as the command ended, so that the caller sees the same signal."""
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    sys.exit(main())
