// From elements that lie one after the other to the frame that travels.
#pragma once

#include <cstdint>

#include "shim/mpi/message/encode.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/state/settings.h"

namespace thinwire::mpi {

struct Dense {
  const CodecUse& use;
  const TypeFacts& type;
  std::uint64_t bytes;
  std::uint64_t shortest_wire;  // that the receiver takes for a frame
  double least_ratio;           // as in tw_message_options
  bool sample_first;
  std::uint32_t turn;   // of the sample's places
  bool wire_on_device;  // the frame is to lie where the data does
};

// Why there is no frame, or TW_COMPRESS and the frame.
struct Encoded {
  tw_reason reason = TW_COMPRESS;
  Wire wire;
};

// Encodes the elements at `data`, in host memory or, where the message is, in GPU memory.
Encoded encode_dense(const Outgoing& message, const void* data, const Dense& array);

}  // namespace thinwire::mpi
