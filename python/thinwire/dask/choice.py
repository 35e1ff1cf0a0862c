"""Whether an array is worth compressing: the library's own plan, by what was observed here."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from thinwire.choose import Retry
from thinwire.codec import CodecCost
from thinwire.costs import find_here
from thinwire.dask import counters
from thinwire.dask.guard import Paces
from thinwire.dask.link import watch
from thinwire.dask.setting import Setting, codec_of
from thinwire.plan import Choice, PlanSettings, plan_message

SAMPLE_BYTES = 256 << 10  # on which a codec's cost is measured if no table has it
# The largest sample of a GPU's memory: an array's own size up to this, as launches, which cost the
# same for any size, would make large arrays look slow by a small sample, and small ones fast by a
# large one.
MOST_SAMPLE_ON_GPU = 4 << 20
WEIGHT = 0.3  # of the newest array in the running mean of ratios

_log = logging.getLogger("thinwire.dask")


class Speed:
    """The median of the last few rates, in bytes per second: the first call of a process, and one
    that lost its processor for a while, say nothing of the next."""

    def __init__(self, first: float | None = None) -> None:
        self._last = deque([] if first is None else [first] * 3, maxlen=7)

    def learn(self, nbytes: int, seconds: float) -> None:
        self._last.append(nbytes / max(seconds, 1e-9))

    @property
    def rate(self) -> float | None:
        """None before the third."""
        return median(self._last.copy()) if len(self._last) > 2 else None


def _octave(nbytes: int) -> int:
    """The power of two that a size is counted under; 0 for 0, which others may send."""
    return (1 << nbytes.bit_length()) >> 1


@dataclass(frozen=True)
class Array:
    """What a choice goes by. `gpu` is the GPU's ordinal, None for host memory."""

    dtype: str
    nbytes: int
    gpu: int | None
    same_host: bool

    @property
    def octave(self) -> int:
        return _octave(self.nbytes)

    def name_under(self, spec: str) -> str:
        place = "" if self.gpu is None else " on GPUs"
        way = ", within the host" if self.same_host else ""
        return f"{spec} {self.dtype} from {self.octave} bytes{place}{way}"


@dataclass(frozen=True)
class Sample:
    """What coding a part of an array came to; rates are in its bytes per second."""

    ratio: float
    encode_rate: float
    decode_rate: float


class History:
    """What one codec did with arrays of one kind lately. Thread-safe."""

    def __init__(self, spec: str, array: Array) -> None:
        self.name = array.name_under(spec)
        self._lock = threading.Lock()
        self._codec = codec_of(spec)
        cost = _first_cost(spec, array)
        self._encode = Speed(cost.encode_bytes_per_second)
        self._decode = cost.decode_bytes_per_second
        self._expected = cost.ratio
        self._ratio: float | None = None  # of the data itself
        self._used = ""  # the codec of the last frame: "auto" chooses one
        self._retry = Retry()
        self._lately = ""  # why the last arrays were declined; empty: they were not
        self.expected: Paces | None = None  # of the last array that was weighed

    def why_plain(self, array: Array, link: float, sample: Callable[[], Sample]) -> str:
        """Empty if the array is worth compressing. `sample` codes a part of it, which says what
        it comes to, and after a while without coding also how fast the processor is now."""
        with self._lock:
            if not self._retry.next():
                return self._lately
            again = bool(self._lately)
            ratio = None if again else self._ratio
        if again:
            ratio = self._begin_anew(sample(), array)
        choice = self._plan(array, link, ratio)
        if choice.why_raw:
            self._decline(choice.why_raw)
            return choice.why_raw
        if ratio is None:
            ratio = sample().ratio
            with self._lock:
                self._ratio = ratio
        if ratio < (choice.least_ratio or 1.0):
            self._decline("data declined lately")
            return "too little gained"
        return ""

    def _begin_anew(self, found: Sample, array: Array) -> float:
        with self._lock:
            self._ratio = found.ratio
            self._encode, self._decode = Speed(found.encode_rate), found.decode_rate
        forget_decode(self._used, array)
        return found.ratio

    def learn(self, array: Array, link: float | None, seconds: float, wire: int, used: str) -> bool:
        """Of an array that was encoded, by the codec `used`; whether it is worth sending so."""
        ratio = array.nbytes / wire
        with self._lock:
            self._used = used
            self._encode.learn(array.nbytes, seconds)
            before = ratio if self._ratio is None else self._ratio
            self._ratio = before + WEIGHT * (ratio - before)
        choice = None if link is None else self._plan(array, link, self._ratio)
        counters.of_class(self.name, ratio=self._ratio, encode_rate=self._encode.rate)
        if choice is not None and ratio < (choice.least_ratio or 1.0):
            self._decline("data declined lately")
            # It is encoded already: what remains is its transfer, and decoding.
            return link is not None and wire / link + array.nbytes / self._decode_rate(array) < (
                array.nbytes / link
            )
        with self._lock:
            self._retry.tell(True)
            self._lately = ""
        return ratio > 1.0

    def _decline(self, lately: str) -> None:
        with self._lock:
            self._lately = lately
            self._retry.tell(False)

    def _decode_rate(self, array: Array) -> float:
        """Of the codec that was used last, as this process decodes it itself."""
        key = self._used, array.dtype, array.gpu is not None, array.octave
        with _making_speeds:
            found = _decoded.get(key)
            return (None if found is None else found.rate) or self._decode

    def _plan(self, array: Array, link: float, ratio: float | None) -> Choice:
        decode = self._decode_rate(array)
        cost = CodecCost(self._encode.rate or 1.0, decode, ratio or max(self._expected, 1.0))
        settings = PlanSettings(threshold=0, same_node=True, link=link, cost=cost)
        choice = plan_message(self._codec, settings, array.dtype, array.nbytes)
        if choice.seconds and choice.raw_seconds:
            self.expected = Paces(choice.seconds / array.nbytes, choice.raw_seconds / array.nbytes)
        counters.of_class(
            self.name,
            decode_rate=decode,
            needed_ratio=choice.least_ratio,
            predicted_plain_seconds=choice.raw_seconds,
            predicted_seconds=choice.seconds,
        )
        return choice


# How fast this process decoded, by codec, element type, whether on a GPU, and octave of size. It
# stands for the receivers, which do the same work on like machines.
_decoded: dict[tuple[str, str, bool, int], Speed] = {}
_making_speeds = threading.Lock()


def learn_decode(used: str, dtype: str, on_gpu: bool, nbytes: int, seconds: float) -> None:
    key = used, dtype, on_gpu, _octave(nbytes)
    with _making_speeds:
        _decoded.setdefault(key, Speed()).learn(nbytes, seconds)


def forget_decode(used: str, array: Array) -> None:
    with _making_speeds:
        _decoded.pop((used, array.dtype, array.gpu is not None, array.octave), None)


_histories: dict[str, History] = {}
_making = threading.Lock()


def history_of(spec: str, array: Array) -> History:
    """The first call for a kind measures the codec, unless this machine's table has it."""
    name = array.name_under(spec)
    with _making:
        if name not in _histories:
            _histories[name] = History(spec, array)
            _log.debug("%s: %s", name, _histories[name].__dict__)
        return _histories[name]


def _first_cost(spec: str, array: Array) -> CodecCost:
    codec = codec_of(spec)
    if array.gpu is not None:
        sample = min(array.octave, MOST_SAMPLE_ON_GPU)
        return codec.measure(array.dtype, sample, device=array.gpu)
    found = find_here(codec, array.dtype, array.nbytes)
    return codec.measure(array.dtype, SAMPLE_BYTES) if found is None else found


def link_of(setting: Setting, same_host: bool) -> float | None:
    """Bytes per second: stated, else observed; None if neither is."""
    if setting.link is not None and not same_host:
        return setting.link
    return (watch.host if same_host else watch.network).rate
