"""Codecs on a GPU that is taken to have little shared memory (THINWIRE_TEST_SHARED_BYTES), against
the CPU. Prints a line for each spec: `same`, or `refused` where the library has no code for it."""

from gpu_calls import DeviceBuffer, bound, encode, shape_struct
from gpu_data import coders, make
from test_gpu_frames import check_array

from thinwire import Codec
from thinwire.library import library

# Tiles of up to 64 KiB, besides planes of up to 64 KiB.
VOLUMES = [("f64", rate) for rate in (8, 16, 33, 47.4375, 60)] + [
    ("f32", rate) for rate in (16, 31)
]
SHAPES = ((64, 64, 64), (33, 17, 41), (2, 300, 130))
LINES = (4097, 262145)


def is_refused(codec: Codec, dtype: str, shape: tuple[int, ...]) -> bool:
    values, made = make("smooth", dtype, shape), shape_struct(dtype, shape)
    source, frame = DeviceBuffer(values), DeviceBuffer(bound(codec, made))
    status, _ = encode(codec, made, source.address, frame.address, frame.nbytes)
    return status == library().TW_UNSUPPORTED


def run(spec: str, dtype: str, shapes: tuple[tuple[int, ...], ...]) -> str:
    codec = Codec(spec)
    if any(is_refused(codec, dtype, shape) for shape in shapes):
        return "refused"
    for shape in shapes:
        for kind in ("smooth", "random"):
            check_array(codec, dtype, make(kind, dtype, shape))
    return "same"


def main() -> None:
    for dtype, rate in VOLUMES:
        print(f"zfp:rate={rate}", dtype, run(f"zfp:rate={rate}", dtype, SHAPES), flush=True)
    for coder in coders(every_spec=False):
        shapes = (*((count,) for count in LINES), *SHAPES[: 1 if coder.max_rank > 1 else 0])
        print(coder.spec, coder.dtype, run(coder.spec, coder.dtype, shapes), flush=True)


if __name__ == "__main__":
    main()
