// Loads what calls on a GPU will launch, so that none of them has to.
#pragma once

#include <vector>

#include "codec/spec.h"
#include "collective/slots/call.h"
#include "frame/header.h"

namespace thinwire::collective {

// CUDA loads a kernel at its first launch and may wait for the device as it does; if a stream of
// the device waits for another rank, both would wait for ever. Launches every kernel that calls of
// this spec need on `device`, on a stream of the library's own, and waits for it. kDevice if
// there is no such device or it has no memory, kUnsupported in a build without CUDA.
Status load_kernels(const codec::Spec& spec, int device);

// The calls that it makes of arrays of a type, of rank 0: together they have every kernel.
std::vector<SlotCall> calls_to_load(const codec::Spec& spec, Dtype dtype);

}  // namespace thinwire::collective
