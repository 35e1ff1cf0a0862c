"""The process that holds a lab: it makes the namespaces, builds the network, and stays.

Nothing else keeps a lab alive. It is process 1 of the lab's pid namespace, so when it ends, however
it ends, the kernel kills every process inside and frees every namespace. Unless the lab is to
persist, it ends when the connection to its owner closes, which the kernel sees to even when the
owner is killed. (A parent-death signal would do less: it fires when the thread that started the
process ends.)

Started by `connection.py` through `start_lab_process.py`, with its options as JSON.
"""

import errno
import json
import os
import resource
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from . import launchers
from .environments import NETWORKS, login_environment
from .namespaces import (
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUTS,
    become_root_of_user_namespace,
    die_with_parent,
    make_private,
    name_hosts,
    own_process,
    unshare,
)
from .serve import send, serve
from .shaping import parse_link


def main() -> int:
    options = json.loads(sys.argv[1])
    owner = socket.socket(fileno=options["owner"])
    # Read before the user namespace, where everybody is root.
    login = {**login_environment(), **NETWORKS}
    try:
        _make_namespaces()
    except OSError as error:
        send(owner, {"unavailable": f"namespaces are not permitted here ({error.strerror})"})
        return 1
    child = os.fork()
    if child != 0:
        if options["persistent"]:
            return 0
        owner.close()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _hold(options, owner, login)
    return 0


def _make_namespaces() -> None:
    kinds = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWPID
    try:
        unshare(kinds, "new namespaces")
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        become_root_of_user_namespace()
        unshare(kinds, "new namespaces in a user namespace")


def _hold(options: dict[str, Any], owner: socket.socket, login: dict[str, str]) -> None:
    if not options["persistent"]:
        die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Process 1 inherits every orphan of the lab; ignoring the signal has the kernel reap them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    outer = own_process()
    try:
        # Kept out of main(): a refusal of namespaces is then known before this costly import.
        from .network import Network

        make_private(options["folder"])
        network = Network(options["name"], options["hosts"], parse_link(options["link"]))
        description = _write_description(options, network, login)
    except ImportError as error:
        send(owner, {"unavailable": f"{error}; pip install 'thinwire[lab]'"})
        return
    except OSError as error:
        send(owner, {"unavailable": f"the lab cannot be built here ({error.strerror or error})"})
        return
    except Exception as error:
        send(owner, {"failed": f"the lab could not be built: {error}"})
        return
    # So that a lab that persists does not keep the caller's folder in use.
    os.chdir("/")
    listener = socket.socket(fileno=options["listener"]) if options["persistent"] else None
    serve(owner, listener, {**description, "process": int(outer)}, network)


def _write_description(options: dict[str, Any], network: Any, login: dict[str, str]) -> Any:
    """Puts the agent, its data and the hostfile into the lab's folder; returns what owners get."""
    folder = Path(options["folder"])
    name_hosts(options["folder"], {host.name: host.address for host in network.hosts})
    slots = options["ranks_per_host"]
    files = launchers.write_files(folder, [host.name for host in network.hosts], slots)
    held = {
        name: (host.net, host.uts) for host in network.hosts for name in (host.name, host.address)
    }
    logins = {
        name: {**login, **environment}
        for host, environment in zip(network.hosts, options["environments"], strict=True)
        for name in (host.name, host.address)
    }
    data = {"process": own_process(), "logins": logins, "hosts": held}
    (folder / launchers.DESCRIPTION).write_text(json.dumps(data))
    hosts = [
        {**vars(host), "environment": environment}
        for host, environment in zip(network.hosts, options["environments"], strict=True)
    ]
    return {
        "hosts": hosts,
        "launchers": files,
        "login": login,
        "keeps_order": network.keeps_order,
    }
