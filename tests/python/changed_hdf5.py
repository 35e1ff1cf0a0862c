"""Reads an HDF5 file with changed bytes, over and over; prints how many arrays were read, and how
many refused. Ends with another error, or by a signal, if one is neither."""

import random
import resource
import sys
from pathlib import Path

from thinwire import array_files

MOST_MEMORY = 3 << 30


def change_hdf5(sound: Path, path: Path, count: int = 300) -> None:
    data, outcomes = sound.read_bytes(), [0, 0]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for seed in range(count):
        chance, changed = random.Random(seed), bytearray(data)
        for _ in range(chance.randint(1, 8)):
            changed[chance.randrange(len(data))] = chance.choice((0, 1, 127, 255, 8))
        if chance.random() < 0.2:
            del changed[chance.randrange(len(changed)) :]
        path.write_bytes(changed)
        print(f"seed {seed}", file=sys.stderr)
        for name in ("g/a", "g/b", ""):
            try:
                array_files.read(Path(f"{path}:{name}"), "f32")
                outcomes[0] += 1
            except ValueError as error:
                assert str(error).startswith("changed.h5") and "\n" not in str(error)
                outcomes[1] += 1
    print(*outcomes)


if __name__ == "__main__":
    change_hdf5(Path(sys.argv[1]), Path(sys.argv[2]))
