"""Writing files of results: whole, or not at all."""

import errno
import os
from pathlib import Path


def expect(path: Path) -> None:
    """OSError where no file can be written there: before what takes long, and nothing is changed
    but that the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def write(path: Path, data: bytes | memoryview) -> None:
    """Writes a file; where that fails or is interrupted, as on a full disk, none is left. One that
    may not be written to stays as it is. OSError names the file."""
    is_open = False
    try:
        with path.open("wb", buffering=0) as file:
            is_open = True
            left = memoryview(data).cast("B")
            while len(left):
                left = left[file.write(left) :]
    except BaseException as error:
        # A path that is no file of its own, as a pipe or /dev/full, stays.
        if is_open and path.is_file() and not path.is_symlink():
            path.unlink()
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
