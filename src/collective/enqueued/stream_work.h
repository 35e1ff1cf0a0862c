// Local steps in stream order: what the enqueue-only driver asks of whoever works where values lie.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/status.h"
#include "device/outcome.h"

namespace thinwire::collective {

// What pieces are worked on in.
struct WorkMemory {
  std::uint64_t workspace_bytes = 0;  // kept from one piece to the next
  std::uint64_t spare_bytes = 0;      // one piece's own
};

// Everything is enqueued on one stream, in the order of the calls; nothing is waited for and
// nothing allocated. Outcomes are words in memory of the same kind as the values, 0 before; where
// one becomes an error, the values that were to be written are NaN, so that whoever uses them next
// cannot take them for sound.
class StreamWork {
 public:
  virtual ~StreamWork() = default;

  // What pieces of this shape need; kUnsupported where they cannot be coded.
  virtual Result<WorkMemory> memory_for(const Shape& shape) const = 0;

  // Lends it, aligned to 256, for what is enqueued from now on; its contents may be any.
  virtual Status begin(MutableByteView workspace, std::byte* spare) = 0;

  virtual Status clear(std::byte* at, std::uint64_t bytes) = 0;
  virtual Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) = 0;
  virtual Status combine(std::byte* to, const std::byte* from, const Shape& shape) = 0;

  // `slot` has room for any frame of these values. What is declined leaves no frame there, whatever
  // there was.
  virtual Status encode(const std::byte* from, const Shape& shape, MutableByteView slot,
                        device::Outcome* outcome) = 0;
  virtual Status decode(ByteView frame, const Shape& shape, std::byte* to,
                        device::Outcome* outcome) = 0;
  virtual Status reduce(ByteView frame, const Shape& shape, std::byte* to,
                        device::Outcome* outcome) = 0;
};

}  // namespace thinwire::collective
