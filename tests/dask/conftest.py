"""Without distributed every test here is skipped, by name."""

from importlib.util import find_spec

import pytest

if find_spec("distributed") is None:
    collect_ignore_glob = ["test_*"]


@pytest.fixture(autouse=True)
def watchdog():
    """A test that hangs says where."""
    import faulthandler

    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
