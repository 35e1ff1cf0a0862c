// What one synchronous piece of GPU work needs: a stream, a workspace, an outcome. Kept and reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/stream.h"

namespace thinwire::device {

struct LaneState;

// A lane of one device, on loan to one thread. While it is held, its device is the thread's current
// one; what was current before is so again afterwards. Its work must be over when it goes back:
// wait() or finish() was called after the last thing enqueued.
class Lane {
 public:
  explicit Lane(std::unique_ptr<LaneState> state);
  Lane(Lane&&) noexcept;
  Lane& operator=(Lane&&) noexcept;
  ~Lane();

  StreamHandle stream() const;
  std::byte* workspace() const;

  // Pinned memory that device and host reach under one address; 0 after acquire_lane().
  Outcome* outcome() const;

  // Polls until the device has written the outcome, and clears it. kDevice, instead of waiting for
  // ever, where the device failed or its work ended without a word.
  Result<Outcome> wait();

  // Waits until all work enqueued on the lane's stream has run.
  Status finish();

  // Copies between any two places, on the lane's stream; asynchronous but for pageable memory.
  Status copy(void* destination, const void* source, std::uint64_t bytes);

  // Gives the thread its own context back before the lane goes back, so that the lane may end on
  // another thread or after lanes that were taken later.
  void leave_context();

  // Grows the workspace to at least `bytes`, which are zeros or as kernels that leave zeros left
  // them. What is enqueued next may leave others where `leaves_zeros` is false.
  Status reserve(std::uint64_t bytes, bool leaves_zeros = true);

  // Makes the lane's work wait for what is on `stream` now.
  Status order_after(StreamHandle stream);

 private:
  std::unique_ptr<LaneState> state_;
};

// A lane with at least `workspace_bytes` of workspace, as reserve() has it. kDevice
// where there is no such device or the driver refuses, kUnsupported in a build without CUDA.
Result<Lane> acquire_lane(int device, std::uint64_t workspace_bytes);

// Whether `stream` is being captured into a graph.
bool is_capturing(StreamHandle stream);

// Number of devices; kDevice with the cause where there is no driver or no device, kUnsupported in
// a build without CUDA.
Result<int> device_count();

}  // namespace thinwire::device
