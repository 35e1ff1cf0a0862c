"""Runs a command on another host of the lab, in the place of ssh: `agent HOST COMMAND...`.

As over ssh, the words are joined and given to the login shell, the environment is that of a fresh
login on that host (its GPUs among it), and the exit status is the command's. Open MPI starts its
daemons this way.

A program, run by its path inside a lab: without the package and without site-packages it starts
in milliseconds, and it needs nothing of its environment.
"""

import json
import os
import sys

from namespaces import join_host, open_host


def main() -> int:
    description, host, *words = sys.argv[1:]
    # Open MPI may put options of ssh before the host's name; none means anything here.
    while host.startswith("-") and words:
        host, *words = words
    with open(description) as file:
        lab = json.load(file)
    if host not in lab["hosts"]:
        print(f"thinwire lab: there is no host {host!r} in this lab", file=sys.stderr)
        return 255
    join_host(open_host(lab["process"], *lab["hosts"][host]))
    login = lab["logins"][host]
    folder = login["HOME"] if os.path.isdir(login["HOME"]) else "/"
    os.chdir(folder)
    shell = login["SHELL"]
    os.execve(shell, [shell, "-c", " ".join(words)], login)


if __name__ == "__main__":
    sys.exit(main())
