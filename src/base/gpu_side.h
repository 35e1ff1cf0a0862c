// Whether the GPU side, which is a library of its own in builds with CUDA, can be used.
#pragma once

#include "base/status.h"

namespace thinwire {

// kDevice, with what is wrong, on a machine that may have a GPU if the kernels' library is missing,
// damaged or of another build: then no rank may be sent what a GPU has to decode. The first call
// reads a few hundred bytes of the file, and logs what is wrong; nothing is loaded.
Status gpu_side_status();

}  // namespace thinwire
