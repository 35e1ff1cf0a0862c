// Loads what calls on a GPU will launch, so that none of them has to.
#pragma once

#include "codec/spec.h"
#include "frame/header.h"

namespace thinwire::collective {

// CUDA loads a kernel at its first launch and may wait for the device as it does; if a stream of
// the device waits for another rank, both would wait for ever. Launches every kernel that calls of
// this spec need on `device`, on a stream of the library's own, and waits for it. kDevice if
// there is no such device or it has no memory, kUnsupported in a build without CUDA.
Status load_kernels(const codec::Spec& spec, int device);

}  // namespace thinwire::collective
