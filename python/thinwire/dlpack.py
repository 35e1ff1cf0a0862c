"""DLPack: reading the capsules of other libraries, and making our own.

The protocol is the array API standard's: a capsule named "dltensor" or "dltensor_versioned" is
renamed by whoever consumes it, who then owes one call of its deleter.
"""

import ctypes
from dataclasses import dataclass, field
from typing import Any

# DLDeviceType.
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
MAJOR, MINOR = 1, 0
_FLAG_READ_ONLY = 1


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class _ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


# A handle of our own: prototypes set on ctypes.pythonapi would be everybody's.
_python = ctypes.PyDLL(None)
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_get_pointer = _python.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
_set_name = _python.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_new_capsule = _python.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# Python keeps pointers to these names, so they must stay where they are.
_PLAIN, _VERSIONED = ctypes.c_char_p(b"dltensor"), ctypes.c_char_p(b"dltensor_versioned")
_USED = {
    _PLAIN.value: ctypes.c_char_p(b"used_dltensor"),
    _VERSIONED.value: ctypes.c_char_p(b"used_dltensor_versioned"),
}
_KINDS = {_PLAIN.value: (_PLAIN, _Managed), _VERSIONED.value: (_VERSIONED, _ManagedVersioned)}

# Called with the interpreter's lock held: deleters take it again or need it.
_Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class Borrowed:
    """A consumed capsule's tensor, kept alive until this object goes."""

    def __init__(self, managed: Any) -> None:
        self._managed = managed
        tensor = managed.tensor
        self.device: tuple[int, int] = (tensor.device.type, tensor.device.id)
        self.type: tuple[int, int] = (tensor.dtype.code, tensor.dtype.bits * tensor.dtype.lanes)
        self.shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
        self.strides: tuple[int, ...] | None = None  # in elements
        if tensor.strides:
            self.strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
        self.pointer: int = (tensor.data or 0) + tensor.byte_offset
        self.read_only = bool(getattr(managed, "flags", 0) & _FLAG_READ_ONLY)

    # Its names are bound here, because module globals may be gone when the interpreter ends.
    def __del__(self, deleter: Any = _Deleter, address_of: Any = ctypes.addressof) -> None:
        managed, self._managed = self._managed, None
        if managed is not None and managed.deleter:
            deleter(managed.deleter)(address_of(managed))


def borrow(capsule: object) -> Borrowed:
    """Consume a capsule. TypeError for anything else, and for one consumed before."""
    for plain, (name, kind) in _KINDS.items():
        if not _is_valid(id(capsule), name):
            continue
        managed = kind.from_address(_get_pointer(id(capsule), name))
        if kind is _ManagedVersioned and managed.major != MAJOR:
            raise BufferError(f"DLPack {managed.major}.{managed.minor} is not understood here")
        _set_name(capsule, _USED[plain])
        return Borrowed(managed)
    raise TypeError("not a DLPack capsule, or one that was consumed before")


def request(array: Any, stream: int | None) -> Borrowed:
    """Ask an array for its capsule, ready for work on `stream` (None for the host), and consume
    it."""
    words: dict[str, Any] = {} if stream is None else {"stream": stream}
    try:
        capsule = array.__dlpack__(max_version=(MAJOR, MINOR), **words)
    except TypeError:  # a producer from before there were versions
        capsule = array.__dlpack__(**words)
    return borrow(capsule)


# ---- Our own ----


@dataclass
class _Lent:
    """What a capsule of ours points to; `owner` keeps the memory."""

    owner: object
    managed: Any
    extents: Any = field(default=None)


_lent: dict[int, _Lent] = {}


# May be called from any thread, with or without the lock: this kind of callback takes it.
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _give_back(address: int) -> None:
    _lent.pop(address, None)


# A capsule that nobody consumed dies with its first name.
@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule: int) -> None:
    for name, _ in _KINDS.values():
        if _is_valid(capsule, name):
            _lent.pop(_get_pointer(capsule, name), None)


def lend(
    owner: object,
    pointer: int,
    device: tuple[int, int],
    dtype: tuple[int, int],
    shape: tuple[int, ...],
    versioned: bool,
) -> object:
    """A capsule of the contiguous array at `pointer`, which `owner` keeps alive; `dtype` is a type
    code and its bits."""
    name, kind = _KINDS[(_VERSIONED if versioned else _PLAIN).value]
    managed = kind()
    if versioned:
        managed.major, managed.minor = MAJOR, MINOR
    managed.deleter = ctypes.cast(_give_back, ctypes.c_void_p)
    steps = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        steps[axis - 1] = steps[axis] * shape[axis]
    extents = (ctypes.c_int64 * (2 * len(shape) or 1))(*shape, *steps)
    tensor = managed.tensor
    tensor.data = pointer if 0 not in shape else None
    tensor.device = _Device(*device)
    tensor.ndim = len(shape)
    tensor.dtype = _DataType(*dtype, 1)
    tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
    step_address = ctypes.addressof(extents) + 8 * len(shape)
    tensor.strides = ctypes.cast(step_address, ctypes.POINTER(ctypes.c_int64))
    address = ctypes.addressof(managed)
    _lent[address] = _Lent(owner, managed, extents)
    return _new_capsule(address, name, ctypes.cast(_drop_capsule, ctypes.c_void_p))
