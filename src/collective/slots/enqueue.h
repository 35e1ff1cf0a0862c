// Enqueues runs of slots as one group, over any number of communicators and streams.
#pragma once

#include <cstdint>
#include <memory>

#include "collective/slots/run.h"
#include "device/stream.h"

namespace thinwire::collective {

// This rank's end of a communicator. One thread at a time.
struct SlotLink {
  std::unique_ptr<transport::StreamTransport> transport;
  bool in_group = false;  // of the enqueue that is at work
  OnDevice on_device;
  // On streams of host functions: as OnDevice::order.
  std::unique_ptr<HostTurns> turns;
};

// The runs of a group, wherever their descriptions lie; asked for several times.
class SlotRuns {
 public:
  virtual ~SlotRuns() = default;
  virtual std::uint32_t count() const = 0;
  virtual SlotRun run(std::uint32_t at) const = 0;
  virtual SlotLink& link(std::uint32_t at) const = 0;
};

// Allocates nothing and waits for nothing. kInvalidArgument, and nothing enqueued, if a run is
// not sound. After another failure messages may be missing, and records may never be complete.
Status enqueue_slots(const SlotRuns& runs);

// The same in steps, for transports whose groups go on after their end: the local work of stage
// `stage`, and the exchange after it, in one group. Stage 0 first, each of the others after what
// was posted before is on its streams; `stages`: how many there are. Nothing is kept in between.
Status enqueue_slots(const SlotRuns& runs, int stage, int* stages);

// The time when the stream comes by, to `at`, as tw_stream_time() has it.
Status enqueue_time(transport::StreamTransport& transport, int device, std::uint64_t* at,
                    device::StreamHandle stream);

}  // namespace thinwire::collective
