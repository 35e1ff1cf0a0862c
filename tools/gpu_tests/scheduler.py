"""Runs tests in many processes of pytest at once, spread over the GPUs that are there.

First all that bear company: processes that see one GPU each, and for tests marked `several_gpus`
others that see all, each beginning with another. Then those marked `gpu_alone`, one at a time on
each GPU; then those marked `alone`, one at a time. What failed runs once more, alone.
"""

import selectors
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pool import Outcome, Pool, Test
from worker_process import WorkerProcess

# A process that ends by itself is started again so often, in all.
RESTARTS = 20
# Seconds that a process may take to end after it has closed its pipe, and after it was told to
# stop.
END_SECONDS = 5
STOP_SECONDS = 6


class Scheduler:
    def __init__(
        self, pytest: Sequence[str], settings: dict[str, str], folder: Path,
        gpus: Sequence[str], each: int, deadline: float,
    ) -> None:  # fmt: skip
        self._pytest = pytest
        self._paths: list[str] = []
        self._settings = settings
        self._folder = folder
        self._gpus = list(gpus)
        self._each = each
        self._deadline = deadline
        self._started = 0
        self._restarts = RESTARTS
        self._begun = time.monotonic()
        self.tests: list[Test] | None = None
        self.outcomes: dict[str, Outcome] = {}
        self.cut_off: list[str] = []  # under way when the time was over

    def run(self, paths: Sequence[str]) -> None:
        """Those of files and folders, or those that are named."""
        self._paths = list(paths)
        self._phase(self._in_company())
        on_a_gpu = Pool(self._gpus or [None], _gpu_alone)
        self._phase([on_a_gpu])
        self._phase([Pool([self._all()], _alone)])
        for several in (False, True):
            view = self._all() if several else (self._gpus or [None])[0]
            self._phase([Pool([view], self._to_repeat(several))], again=True)

    def not_run(self) -> list[Test]:
        return [test for test in self.tests or [] if test.name not in self.outcomes]

    def _in_company(self) -> list[Pool]:
        views = [gpu for _ in range(self._each) for gpu in self._gpus] or [None] * self._each
        if len(self._gpus) < 2:
            return [Pool(views, lambda test: not _alone(test) and not _gpu_alone(test))]
        turned = [self._gpus[at:] + self._gpus[:at] for at in range(len(self._gpus))]
        return [
            Pool(views, lambda test: not (test.marks & {"alone", "gpu_alone", "several_gpus"})),
            Pool([",".join(view) for view in turned], _several),
        ]

    def _all(self) -> str | None:
        return ",".join(self._gpus) or None

    def _to_repeat(self, several: bool) -> Callable[[Test], bool]:
        failed = {name for name, each in self.outcomes.items() if each.outcome == "failed"}
        return lambda test: test.name in failed and bool(test.marks & {"several_gpus"}) == several

    def _phase(self, pools: list[Pool], again: bool = False) -> None:
        """Until all tests of the pools have run, or the time is over."""
        paths = self._paths
        if self.tests is not None:
            for pool in pools:
                pool.fill(self.tests)
            wanted = {name for pool in pools for chunk in pool.chunks for name in chunk}
            paths = sorted({test.path for test in self.tests if test.name in wanted})
        if paths and time.monotonic() < self._deadline:
            Phase(self, pools, paths, again).run()

    def start(self, gpus: str | None, paths: Sequence[str]) -> WorkerProcess:
        self._started += 1
        log = self._folder / f"{self._started}.log"
        command = [*self._pytest, *paths]
        return WorkerProcess(self._started, gpus, command, self._settings, log)

    def start_again(self) -> bool:
        self._restarts -= 1
        return self._restarts >= 0

    def late(self) -> bool:
        return time.monotonic() >= self._deadline

    def take_list(self, said: dict[str, Any]) -> None:
        """The tests that there are; those of any process are the same."""
        if self.tests is not None:
            return
        self.tests = [
            Test(each["name"], each["path"], frozenset(each["marks"])) for each in said["tests"]
        ]
        for each in said["files"]:
            self.outcomes[each["name"]] = Outcome(each["outcome"], each["text"])

    def take_outcome(self, name: str, found: Outcome, where: str | None, again: bool) -> None:
        if again:
            self.outcomes[name].again = found.outcome
        else:
            self.outcomes[name] = found
        if found.outcome == "failed":
            how = "FAILED ALONE TOO" if again else "FAILED"
            print(f"\n{how} {name} (GPU {where})\n{found.text[-3000:]}", flush=True)

    def progress(self) -> str:
        failed = sum(each.outcome == "failed" for each in self.outcomes.values())
        seconds = time.monotonic() - self._begun
        return f"{seconds:.0f} s: {len(self.outcomes)} of {len(self.tests or [])}, {failed} failed"


class Phase:
    """Processes of some pools at work."""

    def __init__(
        self, scheduler: Scheduler, pools: list[Pool], paths: list[str], again: bool
    ) -> None:
        self._scheduler = scheduler
        self._paths = paths
        self._again = again
        self._known = scheduler.tests is not None  # the pools are filled
        self._pools: dict[WorkerProcess, Pool] = {}
        self._leaving: list[WorkerProcess] = []
        self._told = time.monotonic()
        self._selector = selectors.DefaultSelector()
        for pool in pools:
            needed = len(pool.chunks) if self._known else len(pool.views)
            for view in pool.views[:needed]:
                self._start(view, pool)

    def run(self) -> None:
        while self._pools and not self._scheduler.late():
            for key, _ in self._selector.select(timeout=1):
                self._hear(key.data)
            if time.monotonic() - self._told > 20:
                self._told = time.monotonic()
                print(self._scheduler.progress(), flush=True)
        for worker in self._pools:
            worker.stop()
        until = time.monotonic() + STOP_SECONDS
        for worker in [*self._pools, *self._leaving]:
            worker.ended(until - time.monotonic())
            self._scheduler.cut_off += [worker.running] if worker.running else []

    def _start(self, view: str | None, pool: Pool) -> None:
        worker = self._scheduler.start(view, self._paths)
        self._pools[worker] = pool
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)

    def _hear(self, worker: WorkerProcess) -> None:
        said = worker.heard()
        if said is None:
            self._gone(worker)
            return
        for each in said:
            self._take(worker, each)

    def _take(self, worker: WorkerProcess, said: dict[str, Any]) -> None:
        if "tests" in said:
            self._scheduler.take_list(said)
            if not self._known:
                self._known = True
                for pool in set_of(self._pools.values()):
                    pool.fill(self._scheduler.tests or [])
        elif "begun" in said:
            worker.running = said["begun"]
            worker.waiting.remove(worker.running)
        elif "ended" in said:
            found = Outcome(said["outcome"], said["text"], said.get("seconds", 0))
            self._scheduler.take_outcome(said["ended"], found, worker.gpus, self._again)
            worker.waiting = [name for name in worker.waiting if name != said["ended"]]
            worker.running = None
        elif "idle" in said:
            worker.idle = True
            self._hand(worker)

    def _hand(self, worker: WorkerProcess) -> None:
        chunks = self._pools[worker].chunks
        if chunks:
            worker.hand(chunks.popleft())
        else:
            worker.dismiss()

    def _gone(self, worker: WorkerProcess) -> None:
        """In order, or by a fault of the test that it ran: that one failed."""
        self._selector.unregister(worker.answers)
        pool = self._pools.pop(worker)
        if worker.in_order:
            self._leaving.append(worker)
        else:
            how = worker.ended(END_SECONDS)
            if worker.running:
                found = Outcome("failed", how)
                self._scheduler.take_outcome(worker.running, found, worker.gpus, self._again)
                worker.running = None
            else:
                print(f"\n{how}", flush=True)
        if worker.waiting:
            pool.chunks.append(worker.waiting)
        if (pool.chunks or not self._known) and self._scheduler.start_again():
            self._start(worker.gpus, pool)


def set_of(pools: Any) -> list[Pool]:
    return list({id(pool): pool for pool in pools}.values())


def _alone(test: Test) -> bool:
    """Of those that have a GPU to themselves, what takes several has them all."""
    return "alone" in test.marks or {"gpu_alone", "several_gpus"} <= test.marks


def _gpu_alone(test: Test) -> bool:
    return "gpu_alone" in test.marks and not _alone(test)


def _several(test: Test) -> bool:
    return "several_gpus" in test.marks and not _alone(test)
