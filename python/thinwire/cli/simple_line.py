"""Command lines that need no parser of Typer's. Making one takes longer than all else that a
command does before its program starts, and `thinwire exec` does it for every rank."""

import os
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo


class _Unclear(Exception):
    """A line that Typer has to judge: it has the words for what is wrong, and for help."""


class _Line:
    """What commands and callbacks of options ask of Typer's context. Where a value came from is
    asked for the words of an error."""

    resilient_parsing = False

    def __init__(self, args: list[str]) -> None:
        self.args = args

    def get_parameter_source(self, _: str) -> NoReturn:
        raise _Unclear


class _Option(NamedTuple):
    argument: str
    kind: type  # str, bool, Path or one of words
    info: OptionInfo


def prepared(command: Callable[..., None], words: list[str]) -> Callable[[], None] | None:
    """Returns a call of a command whose options stand before another program's line, with what
    these words mean; None if Typer has to judge them."""
    try:
        options = {
            name: (option, value) for option in _options(command) for name, value in _names(option)
        }
        texts, rest = _split(words, options)
        asked = {option.argument: option for option, _ in options.values()}
        line = _Line(rest)
        given = {name: _value(option, texts, line) for name, option in asked.items()}
    except (_Unclear, typer.BadParameter):
        return None
    held = {name: value for name, value in given.items() if value is not None}

    def call() -> None:
        try:
            command(line, **held)
        except typer.Exit as end:
            sys.exit(end.exit_code)

    return call


def _options(command: Callable[..., None]) -> Iterator[_Option]:
    for argument, hint in get_type_hints(command, include_extras=True).items():
        if get_origin(hint) is Annotated:
            kind, info = get_args(hint)
            kinds = [each for each in get_args(kind) or (kind,) if each is not type(None)]
            if len(kinds) != 1 or not isinstance(info, OptionInfo):
                raise _Unclear
            yield _Option(argument, kinds[0], info)


def _names(option: _Option) -> Iterator[tuple[str, bool]]:
    """Names on the command line, with what a switch is set to by each."""
    # Typer's Option() takes the first of them for a default until it sees an Annotated.
    given = (option.info.default, *(option.info.param_decls or ()))
    declared = [names for names in given if isinstance(names, str)]
    for names in declared or [f"--{option.argument.replace('_', '-')}"]:
        on, _, off = names.partition("/")
        yield on, True
        if off:
            yield off, False


def _split(
    words: list[str], options: dict[str, tuple[_Option, bool]]
) -> tuple[dict[str, str | bool], list[str]]:
    """What is given for each argument, and the words after the options."""
    given: dict[str, str | bool] = {}
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name, is_joined, text = words[at].partition("=")
        at += 1
        if name == "--" and not is_joined:
            break
        if name not in options:
            raise _Unclear
        option, switched = options[name]
        if option.kind is bool and not is_joined:
            given[option.argument] = switched
            continue
        if not is_joined:
            text = words[at] if at < len(words) else ""
            at += 1
        if option.kind is bool or not text or text.startswith("-"):
            raise _Unclear
        given[option.argument] = text
    return given, words[at:]


def _value(option: _Option, given: dict[str, str | bool], line: _Line) -> Any:
    """An argument as the command takes it, checked; None if it is not given."""
    text = given.get(option.argument)
    if text is None and isinstance(option.info.envvar, str):
        text = os.environ.get(option.info.envvar) or None
    if text is None or isinstance(text, bool):
        return text
    value = _converted(option.kind, text)
    check = option.info.callback
    if check is None:
        return value
    if len(signature(check).parameters) == 1:
        return check(value)
    return check(line, SimpleNamespace(name=option.argument), value)


def _converted(kind: type, text: str) -> Any:
    if kind not in (str, Path) and not issubclass(kind, Enum):
        raise _Unclear
    # Typer's paths may have to be readable.
    if kind is Path and os.path.exists(text) and not os.access(text, os.R_OK):
        raise _Unclear
    try:
        return kind(text)
    except ValueError:
        raise _Unclear from None
