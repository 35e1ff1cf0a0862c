#include "state/counters.h"

namespace thinwire::nccl {
namespace {

void add(std::atomic<std::uint64_t>& to, const std::atomic<std::uint64_t>& more) {
  to.fetch_add(more.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace

void add(Counters& to, const Counters& more) {
  for (std::size_t reason = 0; reason < kReasons; ++reason) add(to.raw[reason], more.raw[reason]);
  add(to.calls, more.calls);
  add(to.bytes, more.bytes);
  add(to.compressed, more.compressed);
  add(to.wire_bytes, more.wire_bytes);
  add(to.compressed_bytes, more.compressed_bytes);
  add(to.compressed_wire_bytes, more.compressed_wire_bytes);
  add(to.frames, more.frames);
  add(to.spilled_blocks, more.spilled_blocks);
  add(to.spilled_blocks_received, more.spilled_blocks_received);
  add(to.difference_bytes, more.difference_bytes);
  add(to.sample_encodes, more.sample_encodes);
}

}  // namespace thinwire::nccl
