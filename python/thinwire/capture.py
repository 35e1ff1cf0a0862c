"""The index of a captured sample: what each file has, where it came from, in which shape."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from thinwire import checked

INDEX = "index.json"
_LONGEST_NAME = 255  # of a file, in bytes
_README = """# Arrays that a program sent

`thinwire capture -- {command}` has made these files; `{index}` says which rank sent each one, to
whom and when. `thinwire advise FILE --link RATE` finds a codec for one, `THINWIRE_DATA` names this
folder to `thinwire bench`; both read the shapes from this table.

| file | shape | operation | rank | bytes |
|---|---|---|---|---|
"""


def make_index(folder: Path, command: list[str]) -> list[dict[str, Any]]:
    """Writes index.json and README.md of the files in `folder`, and removes the ranks' own lists.
    Returns what index.json has under "samples", by rank and number."""
    samples = []
    lists = [listed for listed in folder.glob("rank*.jsonl") if listed.is_file()]
    for listed in lists:
        samples += [sample for sample in _lines(listed) if (folder / sample["file"]).is_file()]
    samples.sort(key=lambda sample: (sample["rank"], sample["number"]))
    made = {"command": command, "samples": samples}
    (folder / INDEX).write_text(json.dumps(made, indent=1) + "\n")
    rows = [
        f"| {each['file']} | {each['shape']} | {each['operation']} | {each['rank']} "
        f"| {each['bytes']} |\n"
        for each in samples
    ]
    words = " ".join(command)
    (folder / "README.md").write_text(_README.format(command=words, index=INDEX) + "".join(rows))
    for listed in lists:
        listed.unlink()
    (folder / "stopped").unlink(missing_ok=True)
    return samples


def _lines(listed: Path) -> list[dict[str, Any]]:
    """A rank's list; a line that was not written to its end says nothing, nor does one that is no
    sample."""
    found = []
    for line in listed.read_text(errors="replace").split("\n")[:-1]:
        with suppress(ValueError):
            found.append(_sample(line))
    return found


def _sample(line: str) -> dict[str, Any]:
    said = checked.parse(line)
    for name in ("file", "shape", "operation"):
        # They become cells of the table.
        word = checked.text(checked.field(said, name), name, _LONGEST_NAME)
        if not word.isprintable() or "|" in word:
            raise ValueError(f"{name} is no cell of a table")
    for name in ("rank", "number", "bytes"):
        checked.count(checked.field(said, name), name)
    if Path(said["file"]).name != said["file"] or len(said["file"].encode()) > _LONGEST_NAME:
        raise ValueError("its file is in another folder")
    return said
