"""Which torch this package works with."""

LEAST = (2, 11)


def check_torch() -> None:
    """ImportError, in words, where torch is missing, too old or built without distributed."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ImportError(
            "thinwire.torch needs PyTorch, which this Python lacks: pip install 'torch>=2.11'"
        ) from error
    found = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if found < LEAST:
        least = ".".join(map(str, LEAST))
        raise ImportError(
            f"thinwire.torch needs torch {least} or later, and this is {torch.__version__}: "
            f"pip install 'torch>={least}'. `thinwire run --nccl` works with older ones."
        )
    if not torch.distributed.is_available():
        raise ImportError("thinwire.torch: this torch was built without torch.distributed")
