#include "state/counters.h"

#include <sstream>

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
  add(to.spilled_at_replays, more.spilled_at_replays);
  add(to.difference_bytes, more.difference_bytes);
  add(to.sample_encodes, more.sample_encodes);
  add(to.in_rank_order, more.in_rank_order);
  add(to.out_of_rank_order, more.out_of_rank_order);
}

void FreeMemories::add(const FreeMemory& of) {
  const std::lock_guard lock(mutex_);
  if (of_kinds_.size() < kMost) of_kinds_.push_back(of);
}

std::vector<FreeMemory> FreeMemories::all() const {
  const std::lock_guard lock(mutex_);
  return of_kinds_;
}

std::string FreeMemories::as_json() const {
  std::ostringstream out;
  const char* separator = "";
  out << '[';
  for (const FreeMemory& each : all()) {
    out << separator << "{\"operation\": \"" << operation_name(each.operation)
        << "\", \"dtype\": \"" << type_text(each.dtype)
        << "\", \"least_bytes\": " << each.least_bytes << ", \"before_bytes\": " << each.before
        << ", \"behind_bytes\": " << each.after << '}';
    separator = ", ";
  }
  out << ']';
  return out.str();
}

std::string FreeMemories::as_text() const {
  std::ostringstream out;
  for (const FreeMemory& each : all()) {
    out << "    the first compressed " << operation_name(each.operation) << " of "
        << type_text(each.dtype) << ", " << each.least_bytes << " to " << 2 * each.least_bytes - 1
        << " bytes: " << (each.before >> 20) << " MiB of the GPU were free before it, "
        << (each.after >> 20) << " after it\n";
  }
  return out.str();
}

}  // namespace thinwire::nccl
