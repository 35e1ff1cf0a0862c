// Calls of one thread that are enqueued together: their compressors locked, and their memory lent.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "run/planned.h"

namespace thinwire::nccl {

// Lists of this thread, so that nothing is allocated after they have been as large.
struct Batch {
  std::vector<Compressor*> compressors;  // each once
  std::size_t locked = 0;                // of these, the first ones
  std::vector<tw_stream_call> calls;
  std::vector<std::size_t> order;  // largest first, as memory is reserved for them
};

// The calls' compressors, locked while it lives.
class Locked {
 public:
  explicit Locked(std::span<const Planned> calls);
  ~Locked() { unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  Batch& batch() { return of_; }

 private:
  void lock(std::span<const Planned> calls);
  void unlock();

  Batch& of_;
};

// Lends the calls what they need, and writes them to `into.calls`. False: some have no memory.
bool prepare(std::span<const Planned> planned, Part part, Batch& into);

}  // namespace thinwire::nccl
