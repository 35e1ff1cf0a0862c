"""Files that commands write: whole or not at all."""

import errno
import os
from pathlib import Path

STDOUT = Path("-")


def expect(path: Path) -> None:
    """OSError if no file can be written there: before what takes long, and nothing is changed
    but that the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def write(path: Path, *pieces: bytes | memoryview) -> None:
    """Writes a file; where that fails or is interrupted, as on a full disk, none is left. One that
    may not be written to stays as it is. "-" is standard output. OSError names the file."""
    is_open = False
    try:
        # sys.stdout is None if it is closed.
        with open(1, "wb", 0, closefd=False) if path == STDOUT else path.open("wb", 0) as file:
            is_open = path != STDOUT
            for data in pieces:
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


def replace(path: Path, data: bytes) -> None:
    """Writes a file anew: who reads the path finds the old file or the whole new one. A draft
    beside it, whose name ends otherwise, becomes the file. OSError names the path."""
    draft = path.with_name(f"{path.name}.draft{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is no file that may be replaced")
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
