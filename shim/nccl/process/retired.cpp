#include "process/retired.h"

#include "coding/coder.h"

namespace thinwire::nccl {
namespace {

void add(std::atomic<std::uint64_t>& to, const std::atomic<std::uint64_t>& more) {
  to.fetch_add(more.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void add_counters(Counters& to, const Counters& more) {
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
  add(to.trials, more.trials);
}

}  // namespace

bool is_free(const Communicator& ended) {
  if (!ended.is_let_go || ended.revoked || ended.out_of_step || ended.is_unfinished) return false;
  const Coder* const coder = ended.coder.load(std::memory_order_acquire);
  return coder == nullptr || coder->is_free();
}

void add_figures(Communicator& all, const Communicator& ended) {
  ++all.together;
  if (ended.ranks > all.ranks) {
    all.ranks = ended.ranks;
    all.rank = ended.rank;
  }
  for (std::size_t at = 0; at < kOperations; ++at) add_counters(all.of[at], ended.of[at]);
}

void destroy(Communicator* ended) {
  delete ended->coder.load();
  delete ended;
}

}  // namespace thinwire::nccl
