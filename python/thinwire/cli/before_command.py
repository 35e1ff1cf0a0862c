"""Options in front of another program's command line, which is passed on as it is."""

from typing import Any

from typer.core import TyperCommand

# Options end at `--` or at the first word that is none: what follows is the other program's.
BEFORE = "[OPTIONS] -- COMMAND [ARGS]..."
PASS_ON = {"allow_extra_args": True, "allow_interspersed_args": False}


class BeforeCommand(TyperCommand):
    """A command whose options must have their values: one that lacks it would take the `--`, or
    another option, for it. Options that it does not know are refused with the nearest it knows."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a shell completes the line: its last value may be missing
            return super().parse_args(ctx, args)
        take_values = {
            name
            for parameter in self.params
            if parameter.param_type_name == "option" and not getattr(parameter, "is_flag", False)
            for name in parameter.opts
        }
        words = iter(args)
        for word in words:
            if word == "--" or not word.startswith("-"):
                break
            if word in take_values and next(words, "--").startswith("-"):
                ctx.fail(f"Option '{word}' requires an argument.")
        return super().parse_args(ctx, args)
