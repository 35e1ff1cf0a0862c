"""The environment of a fresh login, which is all that a command on another host gets.

Like sshd, and unlike a child process: whatever the caller exported stays behind.
"""

import os
import pwd
from pathlib import Path

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NO_LOGIN = {"nologin", "false", ""}


def login_environment() -> dict[str, str]:
    """HOME, USER, LOGNAME, SHELL, PATH and, where set, LANG, of the user who calls."""
    entry = pwd.getpwuid(os.getuid())
    shell = entry.pw_shell if Path(entry.pw_shell).name not in _NO_LOGIN else "/bin/sh"
    environment = {
        "HOME": entry.pw_dir,
        "USER": entry.pw_name,
        "LOGNAME": entry.pw_name,
        "SHELL": shell,
        "PATH": _login_path(),
    }
    if "LANG" in os.environ:
        environment["LANG"] = os.environ["LANG"]
    return environment


def _login_path() -> str:
    """The PATH of /etc/environment, which PAM gives to every login, else the usual one."""
    try:
        lines = Path("/etc/environment").read_text().splitlines()
    except OSError:
        return _DEFAULT_PATH
    for line in lines:
        key, _, value = line.strip().removeprefix("export ").partition("=")
        if key == "PATH" and value:
            return value.strip("\"'")
    return _DEFAULT_PATH
