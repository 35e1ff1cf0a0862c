"""How fast every codec is on a GPU by element type, values of a point and rank of the array, and
which entries fall below 0.7 of a neighbour: the same codec with one of these changed by one step.

    python bench/studies/cliffs/measure.py [--program build/release/bin/codec_gpu] [--mib 64]

Prints rows as bench/results keeps them. One process of `codec_gpu` gets all requests; it compares
every frame and array with the CPU's before it prints a figure. Where there is a GPU and no Python,
the two halves run apart:

    python bench/studies/cliffs/measure.py --write FOLDER
    cd FOLDER && codec_gpu <requests.txt >answers.jsonl      (there)
    python bench/studies/cliffs/measure.py --answers FOLDER/answers.jsonl

with the same --mib and --codec. Values are made: waves and noise, a wave for each value of a point,
so that a tuple or a stride meets the data that it is for. Ranks are the same values.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from cliff_cases import Request, requests, write_data
from cliff_rows import answers, as_csv, rows_of

from thinwire.bench.programs import find_program

MIB = 1 << 20
REQUESTS = "requests.txt"


def write(folder: Path, wanted: list[Request]) -> Path:
    """The data and the file of requests, whose paths are relative to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder, wanted)
    path = folder / REQUESTS
    path.write_text("".join(request.line + "\n" for request in wanted))
    return path


def run(program: Path, wanted: list[Request]) -> list[str]:
    """The lines that the program said. It exits with 1 if one did not verify, and its rows say so
    then."""
    with tempfile.TemporaryDirectory(prefix="thinwire-cliffs-") as folder:
        said = write(Path(folder), wanted).read_text()
        done = subprocess.run(
            [str(program)], input=said, cwd=folder, stdout=subprocess.PIPE, text=True
        )
    if done.returncode not in (0, 1):
        print(f"{program.name} ended with {done.returncode}", file=sys.stderr)
    return done.stdout.splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, help="codec_gpu; else that of the release build")
    parser.add_argument("--mib", type=float, default=64, help="of an array, about")
    parser.add_argument("--codec", action="append", help="only these names; may be repeated")
    parser.add_argument("--run", default="cliffs", help="what the rows' first column says")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write requests and data only")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="what codec_gpu said there")
    given = parser.parse_args()
    named = set(given.codec or ())
    wanted = [
        each
        for each in requests(round(given.mib * MIB))
        if not named or each.spec.partition(":")[0] in named
    ]
    if not wanted:
        parser.error("no codec of these names runs on a GPU")
    if given.write:
        print(f"{len(wanted)} requests in {write(given.write, wanted)}", file=sys.stderr)
        return
    if given.answers:
        said = given.answers.read_text().splitlines()
    else:
        said = run(find_program("codec_gpu", given.program), wanted)
    rows = rows_of(wanted, answers(said))
    print(as_csv(rows, given.run), end="")
    failed = sum(row.note.startswith(("not verified", "an error", "no answer")) for row in rows)
    if failed:
        raise SystemExit(f"{failed} of {len(rows)} cases have no figures")


if __name__ == "__main__":
    main()
