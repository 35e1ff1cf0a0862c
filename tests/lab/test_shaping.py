import pytest

from thinwire.lab.shaping import parse_link


@pytest.mark.parametrize(
    ("text", "bytes_per_second"),
    [("8kbit", 1e3), ("100mbit", 12.5e6), ("1gbit", 125e6), ("12.5gbit", 1562.5e6)],
)
def test_rates_are_decimal_bits(text: str, bytes_per_second: float) -> None:
    assert parse_link(text).bytes_per_second == bytes_per_second


@pytest.mark.parametrize(
    ("text", "burst"),
    [("100mbit", 65536), ("5gbit", 65536), ("10gbit", 125_000), ("25gbit", 312_500), ("none", 0)],
)
def test_burst_is_100_us_and_at_least_64_kib(text: str, burst: int) -> None:
    assert parse_link(text).burst_bytes == burst


@pytest.mark.parametrize("text", ["", "100", "1Gbit", "-1gbit", "1e9bit", "35gbit", "1kbit"])
def test_other_spellings_and_rates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="link"):
        parse_link(text)
