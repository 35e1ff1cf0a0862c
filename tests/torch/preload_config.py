"""Under torch: the configurations that thinwire.torch gives NCCL for groups of two names, and the
policy that it has the preload library read, as JSON. The library is not loaded here, as torch's
own NCCL does nothing without a GPU."""

import ctypes
import json

import thinwire.torch as tt
from thinwire.torch.nccl import policy_file

NAME_AT = 48

if __name__ == "__main__":
    names = ("dp", "tp")
    configs, texts = {}, {}
    for name, (backend, options) in tt.mesh_options(names).items():
        assert backend == "nccl"
        at = options.config.unsafe_get_ptr()
        size = ctypes.c_size_t.from_address(at).value
        configs[name] = ctypes.string_at(at, size).hex()
        texts[name] = ctypes.c_char_p.from_address(at + NAME_AT).value.decode()
    try:
        tt.preload_policy("lossless")
    except RuntimeError as error:
        refused = str(error)
    path = policy_file({"dp": "blockq", "tp": "off"}, names)
    print(json.dumps({"configs": configs, "names": texts, "policy": str(path), "refused": refused}))
