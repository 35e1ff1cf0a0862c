// Messages in groups, as programs make them.
#pragma once

#include <cstddef>

#include "collective/operation.h"
#include "nccl/device.h"
#include "nccl/library.h"

namespace thinwire::bench::nccl {

// One rank's end of a communicator, and the stream that its calls are on.
struct End {
  Group group;
  ncclComm_t comm;
  cudaStream_t stream;
};

// To the next rank around, and from the one before. Throws std::runtime_error, as the other does.
void exchange(const Calls& calls, const End& end, const Buffer& from, Buffer& to, std::size_t count,
              ncclDataType_t type);

// `count` elements to each rank and from each, itself included, in one group.
void exchange_with_all(const Calls& calls, const End& end, const Buffer& from, Buffer& to,
                       std::size_t count, ncclDataType_t type, std::size_t width);

}  // namespace thinwire::bench::nccl
