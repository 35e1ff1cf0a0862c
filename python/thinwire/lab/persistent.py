"""Labs that stay up until they are taken down, or until the machine restarts."""

from . import state
from .connection import end_lab_process, listen, start_lab_process
from .errors import LabError
from .lab import Lab


def up(lab: Lab) -> state.Record:
    """Builds a lab that outlives this process, and writes it down; LabError if the name is taken.

    The lab object only lends its settings: use `Lab.attach` afterwards.
    """
    with state.locked():
        if state.find(lab.name) is not None:
            raise LabError(f"a lab named {lab.name!r} is up already")
        state.forget(lab.name)
        try:
            with listen(state.socket_path(lab.name)) as listener:
                child, connection = start_lab_process(lab.options(), listener)
            record = _record(lab, connection.description["process"])
            state.save(record)
            connection.keep()
        except BaseException:
            state.forget(lab.name)
            raise
        connection.close()
        end_lab_process(child)
        return record


def _record(lab: Lab, process: int) -> state.Record:
    started = state.start_time(process)
    if started is None:
        raise LabError("the lab ended at once")
    link, ranks = lab.link.text, lab.ranks_per_host
    return state.Record(lab.name, lab.hosts, link, ranks, process, started, state.boot_id())


def down(name: str) -> bool:
    """Ends a lab and all that runs in it; False if it had ended by itself, as in a crash."""
    with state.locked():
        record = next((each for each in state.records() if each.name == name), None)
        if record is None:
            raise LabError(f"no lab named {name!r} is up")
        alive = record.alive
        state.end(record)
        return alive


def status() -> tuple[list[state.Record], list[str]]:
    """The labs that are up, and the names of those that were found dead and are now forgotten."""
    with state.locked():
        found = state.records()
        dead = [record.name for record in found if not record.alive]
        for name in dead:
            state.forget(name)
    return [record for record in found if record.name not in dead], dead
