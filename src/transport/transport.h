// How bytes get from rank to rank; knows nothing of what they mean.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/status.h"

namespace thinwire::transport {

// A message under way, until test() has reported it.
using Ticket = std::uint64_t;

struct Arrival {
  std::uint32_t index;  // of its ticket in what was asked
  std::uint64_t bytes;  // received; of a send undefined
};

// One rank's end. Between two ranks messages arrive in the order in which they were posted. One
// thread at a time; nothing blocks.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // The memory must stay until test() reports the ticket. A message longer than `into` is an error
  // of the receiver's test().
  virtual Result<Ticket> post_send(int peer, ByteView bytes) = 0;
  virtual Result<Ticket> post_receive(int peer, MutableByteView into) = 0;

  // Writes which of `tickets` are complete to `arrivals`, which has room for all; returns how many.
  // Those tickets are gone.
  virtual Result<std::uint32_t> test(std::span<const Ticket> tickets, Arrival* arrivals) = 0;

  // Called if a caller found nothing to do.
  virtual void idle() = 0;

  // After a failure, with messages under way: their memory goes now, and nothing will be asked any
  // more. A transport that can withdraw them does so.
  virtual void give_up() {}
};

}  // namespace thinwire::transport
