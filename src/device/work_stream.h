// The means of one synchronous piece of GPU work: a stream, a workspace, an outcome. Kept and
// reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "device/pool.h"
#include "device/stream.h"

namespace thinwire::device {

struct WorkStreamState;

// A work stream of one device, on loan to one thread. While it is held, its device is the thread's
// current one; what was current before is so again afterwards. It goes back, and with it the memory
// that it borrowed, after its work is over: where nobody has waited for the end, whoever lets go of
// it does.
class WorkStream {
 public:
  explicit WorkStream(std::unique_ptr<WorkStreamState> state);
  WorkStream(WorkStream&&) noexcept;
  WorkStream& operator=(WorkStream&&) noexcept;
  ~WorkStream();

  StreamHandle stream() const;
  std::byte* workspace() const;

  // Pinned memory that device and host reach under one address; 0 after acquire_work_stream().
  Outcome* outcome() const;

  // Polls until the device has written the outcome, and clears it. kDevice, instead of waiting for
  // ever, where the device failed or its work ended without a word.
  Result<Outcome> wait();

  // The same if the outcome is the last thing that the work does: it is over then.
  Result<Outcome> wait_for_last();

  // Waits until all work enqueued on it has run.
  Status finish();

  // Memory that the enqueued work reads or writes, for as long as this is held: pinned, or on the
  // work stream's device. kMostBorrowed times at most.
  Result<std::byte*> borrow_pinned(std::uint64_t bytes);
  Result<std::byte*> borrow_on_device(std::uint64_t bytes);
  static constexpr int kMostBorrowed = 4;

  // Copies between any two places, in stream order; asynchronous but for pageable memory.
  Status copy(void* destination, const void* source, std::uint64_t bytes);

  // Gives the thread its own context back before this goes back, so that it may end on
  // another thread or after work streams that were taken later.
  void leave_context();

  // Grows the workspace to at least `bytes`, which are zeros or as kernels that leave zeros left
  // them. What is enqueued next may leave others if `leaves_zeros` is false.
  Status reserve(std::uint64_t bytes, bool leaves_zeros = true);

  // Makes what follows wait for what is on `stream` now, a stream of any device.
  Status order_after(StreamHandle stream);

 private:
  Result<std::byte*> keep(Result<Lease> lease);
  void let_go();

  std::unique_ptr<WorkStreamState> state_;
};

// A work stream with at least `workspace_bytes` of workspace, as reserve() has it. kDevice
// where there is no such device or the driver refuses, kUnsupported in a build without CUDA.
Result<WorkStream> acquire_work_stream(int device, std::uint64_t workspace_bytes);

// Whether `stream` is being captured into a graph.
bool is_capturing(StreamHandle stream);

// Number of devices; kDevice with the cause if there is no driver or no device, kUnsupported in
// a build without CUDA.
Result<int> device_count();

}  // namespace thinwire::device
