// The send side: whether a message is compressed, and its wire form.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/observe/attempt.h"
#include "shim/mpi/state/outgoing.h"
#include "shim/mpi/state/pool.h"
#include "shim/mpi/state/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// A message ready to travel in place of the user's.
struct Wire {
  // How the MPI is told of it: a frame; raw bytes in the user's own count and datatype; or raw
  // bytes as such, where that datatype has gaps.
  enum class Form { kFrame, kUsersType, kBytes };
  Form form = Form::kFrame;
  Lease data;  // empty where there is nothing to send
  std::uint64_t bytes = 0;
  std::uint64_t raw_bytes = 0;
  Attempt attempt{};  // of a frame
};

// The frame to send instead, or nothing if the message goes raw. Either is observed
// (observe/attempt.h); who has sent a frame calls observe_sent().
std::optional<Wire> encode(const Outgoing& message);

// A raw message in GPU memory as the MPI would have sent it, in pinned memory. Returns what went
// wrong, raised on the communicator.
int stage(const Outgoing& message, std::optional<Wire>& wire);

// From elements that lie one after the other to the frame that travels.

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

// From the elements of a message, wherever they lie, to the frame that travels.

Encoded encode_elements(const Chosen& chosen);

}  // namespace thinwire::mpi
