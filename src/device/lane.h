// What one synchronous piece of GPU work needs: a stream, a workspace, an outcome. Kept and reused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "device/stream.h"

namespace thinwire::device {

struct LaneState;

// A lane of one device, on loan. Its work is over when it goes back (finish() or wait() was
// called), unless the device failed.
class Lane {
 public:
  Lane() = default;
  explicit Lane(LaneState* state) : state_(state) {}
  Lane(Lane&& other) noexcept;
  Lane& operator=(Lane&& other) noexcept;
  ~Lane();

  StreamHandle stream() const;
  std::byte* workspace() const;

  // Pinned memory that device and host reach under one address; 0 after acquire_lane().
  Outcome* outcome() const;

  // Polls until the device has written the outcome. Fails, instead of waiting for ever, where the
  // device failed or its work ended without writing.
  Result<Outcome> wait();

  // Waits until all work enqueued on the lane's stream has run.
  Status finish();

  // Copies on the lane's stream, between any two places; asynchronous for pinned host memory.
  Status copy(void* destination, const void* source, std::uint64_t bytes);

 private:
  LaneState* state_ = nullptr;
};

// A lane with at least `workspace_bytes` of workspace, all zeros or left by kernels as they found
// it. Makes `device` the thread's current one. kDevice where there is none or the driver refuses.
Result<Lane> acquire_lane(int device, std::uint64_t workspace_bytes);

// Makes the lane's work wait for what is on `stream` now.
Status order_after(const Lane& lane, StreamHandle stream);

// Whether `stream` is being captured into a graph.
bool is_capturing(StreamHandle stream);

// Number of devices; kDevice with the cause where there is no driver or no device, kUnsupported in
// a build without CUDA.
Result<int> device_count();

}  // namespace thinwire::device
