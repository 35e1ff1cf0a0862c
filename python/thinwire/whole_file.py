"""Writing files of results: whole, or not at all."""

from pathlib import Path


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
        # What is no file of its own, as a pipe or /dev/full, stays.
        if is_open and path.is_file() and not path.is_symlink():
            path.unlink()
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
