"""How each launcher hands variables to the ranks on every node, itself without the preload."""

from collections.abc import Mapping, Sequence

from .choice import Refused
from .launcher import Launcher

_ENV_LIST = "mca_base_env_list"
_ENV_LIST_VARIABLE = f"OMPI_MCA_{_ENV_LIST}"


def forward(
    launcher: Launcher,
    command: Sequence[str],
    wanted: Mapping[str, str],
    environment: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """The command to start instead, and what to add to its environment.

    `wanted` is all that ranks are to have, LD_PRELOAD among it; the launcher gets the rest of it.
    """
    own = next((word for word in command if word.split("=")[0] == "LD_PRELOAD"), None)
    if own is not None:
        raise Refused(
            f"the command sets LD_PRELOAD itself ({own}), which would displace Thinwire's library; "
            "set it in the environment of `thinwire run`, which hands both on"
        )
    settings = {name: value for name, value in wanted.items() if name != "LD_PRELOAD"}
    if launcher.style == "open_mpi":
        words, listed = _open_mpi(command, wanted, environment.get(_ENV_LIST_VARIABLE))
        return words, settings | listed
    if launcher.style == "prterun":
        return _before_each_program(command, wanted), settings
    if launcher.style == "hydra":
        options = [word for pair in wanted.items() for word in ("-genv", *pair)]
        return [command[0], *options, *command[1:]], settings
    if launcher.style == "srun":
        return _srun(command, wanted, environment.get("SLURM_EXPORT_ENV")), settings
    return list(command), dict(wanted)


def _open_mpi(
    command: Sequence[str], wanted: Mapping[str, str], earlier: str | None
) -> tuple[list[str], dict[str, str]]:
    """By the parameter for it, in the environment; Open MPI 4 refuses `-x` beside it."""
    pairs = ";".join(f"{name}={value}" for name, value in wanted.items())
    words = list(command)
    if _ENV_LIST in words[:-1]:
        # A parameter on the command line replaces that of the environment.
        place = words.index(_ENV_LIST) + 1
        words[place] = f"{words[place]};{pairs}"
        return words, {}
    if earlier is None and any(word in ("-x", "--x") for word in words):
        return _before_each_program(words, wanted), {}
    return words, {_ENV_LIST_VARIABLE: f"{earlier};{pairs}" if earlier else pairs}


def _before_each_program(command: Sequence[str], wanted: Mapping[str, str]) -> list[str]:
    """Options `-x`: in Open MPI 4 each holds for one program of several."""
    options = [word for name, value in wanted.items() for word in ("-x", f"{name}={value}")]
    words = [command[0], *options]
    for word in command[1:]:
        words += [word, *options] if word == ":" else [word]
    return words


def _srun(command: Sequence[str], wanted: Mapping[str, str], earlier: str | None) -> list[str]:
    """`--export`: names stand for values of srun's own environment, where a value may have commas;
    the preload is written out, as srun itself is not to have it."""
    words = list(command)
    place = next((i for i, word in enumerate(words) if word.split("=")[0] == "--export"), None)
    given = earlier or "ALL"
    if place is not None:
        option, equals, given = words[place].partition("=")
        given = given if equals else "".join(words[place + 1 : place + 2])
        words[place : place + (1 if equals else 2)] = []
    library = wanted["LD_PRELOAD"]
    if given == "NIL" or "," in library:
        raise Refused(
            f"srun cannot hand on LD_PRELOAD={library} (--export={given}); let each rank start "
            "itself: srun ... thinwire exec PROGRAM"
        )
    # Names alone stand for no others than Slurm's own, as NONE does.
    first = [] if given == "NONE" else [given]
    own = [name for name in wanted if name != "LD_PRELOAD" and "ALL" not in given.split(",")]
    export = ",".join((*first, *own, f"LD_PRELOAD={library}"))
    return [words[0], f"--export={export}", *words[1:]]
