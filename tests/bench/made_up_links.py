"""Links that nothing travels over: what rows say of a link, without a lab."""


class SlowLink:
    """1000 bytes per second, a burst of 100 bytes; nothing is lost unless told."""

    name, same_node, burst_bytes, bytes_per_second = "slow", False, 100, 1000.0

    def __init__(self, dropped: int = 0) -> None:
        self.dropped = dropped

    def drops(self) -> int:
        return self.dropped


class FastLink(SlowLink):
    """A gigabyte per second."""

    name, burst_bytes, bytes_per_second = "fast", 65536, 1e9
