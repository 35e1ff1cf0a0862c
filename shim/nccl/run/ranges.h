// Ranges that profilers show around what is enqueued for compressed calls (NVTX), in a build that
// had its headers. If no profiler is attached they cost a look at a constant.
#pragma once

#include <span>

#include "run/planned.h"

namespace thinwire::nccl {

// Whether a profiler is attached; it was by the first compressed call or never is.
bool ranges_are_watched();

// A range of the calling thread while it lives: operation, codec and bytes of the call, which are
// its payload too. A group's has those of all calls together, and a mark for each.
class Range {
 public:
  explicit Range(std::span<const Planned> calls) : open_(ranges_are_watched()) {
    if (open_) begin(calls);
  }
  ~Range() {
    if (open_) end();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  static void begin(std::span<const Planned> calls);
  static void end();

  const bool open_;
};

}  // namespace thinwire::nccl
