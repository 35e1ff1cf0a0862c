"""Progress of a benchmark on standard error: what runs, how much is done, and the time left."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.progress import (
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from thinwire.bench.output import messages, say

# Goes round each step, and is told what the step is.
Step = Callable[[str], AbstractContextManager[None]]


def seconds_left(done: int, total: int, before: float, within: float) -> float | None:
    """What the steps still to do take if they are as long as those done, which took `before`
    seconds together; `within` are those of the step under way. None before the first is done."""
    if not done:
        return None
    return max(0.0, before / done * (total - done) - within)


class TimeLeft(ProgressColumn):
    """Counts down within a step, where rich's own column stands still until the next."""

    def render(self, task: Task) -> Text:
        before = task.fields["before"]
        within = (task.elapsed or 0.0) - before
        left = seconds_left(int(task.completed), int(task.total or 0), before, within)
        if left is None:
            return Text("")
        minutes, seconds = divmod(round(left), 60)
        return Text(f"about {minutes}:{seconds:02} left")


@contextmanager
def steps(total: int) -> Iterator[Step]:
    """Yields what to put round each of `total` steps: on a terminal one line that shows the present
    one, else a line for each."""
    if not messages.is_terminal:
        yield _numbered(total)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeLeft(),
    )
    with Progress(*columns, console=messages, transient=True) as progress:
        task = progress.add_task("", total=total, before=0.0)

        @contextmanager
        def step(words: str) -> Iterator[None]:
            progress.update(task, description=words, refresh=True)
            try:
                yield
            finally:
                state = progress.tasks[0]
                done = state.completed + 1
                progress.update(
                    task, completed=done, total=max(total, done), before=state.elapsed or 0.0
                )

        yield step


def _numbered(total: int) -> Step:
    number = 0

    @contextmanager
    def step(words: str) -> Iterator[None]:
        nonlocal number
        number += 1
        say(f"[{number}/{max(number, total)}] {words}")
        yield

    return step
