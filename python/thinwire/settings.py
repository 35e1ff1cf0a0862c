"""The settings, THINWIRE_*, of the environment or of THINWIRE_CONFIG's file, by the library's own
table."""

from collections.abc import Mapping
from dataclasses import dataclass

from thinwire.library import ThinwireError, c_text, check, library, new_struct, text

PREFIX = "THINWIRE_"


@dataclass(frozen=True)
class Setting:
    """A row of the table."""

    name: str
    kind: str  # codec, size, rate, switch, level, words, report, path, or "of tools"
    fallback: str  # what holds if it is not set
    words: tuple[str, ...]  # of the kind "words"
    meaning: str
    of_tools: bool  # read by this project's tools and tests alone


def all_settings() -> list[Setting]:
    """Every name there is, in the order of docs/reference/settings.md."""
    lib = library()
    rows = []
    for index in range(lib.tw_setting_count()):
        info = new_struct("tw_setting_info")
        check(lib.tw_setting_describe(index, info))
        words = tuple(text(info.words).split())
        fields = (text(info.name), text(info.kind), text(info.fallback))
        rows.append(Setting(*fields, words, text(info.meaning), bool(info.of_tools)))
    return rows


def value_of(name: str) -> str | None:
    """The setting's value for this process; None if it is not set, empty or wrong."""
    value = library().tw_setting_value(c_text(name))
    return text(value) or None if value else None


def check_setting(name: str, value: str) -> None:
    """ThinwireError if no setting has that name, or it does not take that value."""
    lib = library()
    status = lib.tw_setting_check(c_text(name), c_text(value))
    if status != 0:
        raise ThinwireError(status, f"{name}: {text(lib.tw_last_error())}")


def wrong_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with each wrong or unknown setting, by its name; an empty value is none."""
    found = {}
    for name, value in environment.items():
        if not name.startswith(PREFIX) or name.startswith(f"{PREFIX}TEST_") or not value:
            continue
        try:
            check_setting(name, value)
        except ThinwireError as error:
            found[name] = error.args[0].removeprefix(f"{name}: ")
    return found


def in_force(environment: Mapping[str, str]) -> dict[str, str]:
    """This process's `environment` without its wrong and unknown settings, which this process has
    named: what it starts need not name them again."""
    kept = dict(environment)
    for name in wrong_settings(environment):
        holds = value_of(name)
        if holds:
            kept[name] = holds
        else:
            del kept[name]
    return kept


def job_rank() -> int:
    """Which rank of its job this process is, by what its launcher says; -1 if none does."""
    return int(library().tw_job_rank())
