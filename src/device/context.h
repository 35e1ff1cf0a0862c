// Contexts: the library works in each device's primary one and leaves the caller's as it was.
#pragma once

#include <utility>

#include "base/status.h"

namespace thinwire::device {

// Makes a device's primary context current for this thread, and allows calls that a stream capture
// elsewhere in the process would forbid; puts both back at the end of its life, on the same thread.
class ContextGuard {
 public:
  ContextGuard() = default;
  ContextGuard(ContextGuard&& other) noexcept { swap(other); }
  ContextGuard& operator=(ContextGuard&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ContextGuard();

  // kDevice if there is no such device, kUnsupported in a build without CUDA.
  static Result<ContextGuard> enter(int device);
  // For what belongs to no device, as pinned memory does: of one that the process works on, the
  // thread's own if it is. A new context takes half a GiB of its GPU.
  static Result<ContextGuard> enter_any();

 private:
  void swap(ContextGuard& other) noexcept {
    std::swap(entered_, other.entered_);
    std::swap(changed_, other.changed_);
    std::swap(before_, other.before_);
    std::swap(capture_mode_, other.capture_mode_);
  }

  bool entered_ = false;
  bool changed_ = false;
  void* before_ = nullptr;  // the context that was current
  int capture_mode_ = 0;    // the thread's own, once entered
};

}  // namespace thinwire::device
