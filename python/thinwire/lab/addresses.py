"""The lab's address plan. It cannot clash with anything: each lab has a network of its own."""

SUBNET = "10.77.0.0/16"
PREFIX_LENGTH = 16
# A Linux bridge has 1024 ports, the first of which is none.
MOST_HOSTS = 1023

# The name of every host's link on the host.
INTERFACE = "tw0"


def address_of(index: int) -> str:
    """The IPv4 address of host `index`, from 0."""
    return f"10.77.{(index + 1) >> 8}.{(index + 1) & 255}"


def name_of(lab: str, index: int) -> str:
    """The hostname of host `index` of the lab of that name."""
    return f"tw-{lab}-{index}"
