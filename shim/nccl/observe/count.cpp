#include "observe/count.h"

#include "observe/trace.h"
#include "state/policy.h"

namespace thinwire::nccl {

void count(const Count& call) {
  const auto add = [](std::atomic<std::uint64_t>& to, std::uint64_t more) {
    to.fetch_add(more, std::memory_order_relaxed);
  };
  Counters& of = call.communicator->of[call.operation];
  add(of.calls, 1);
  add(of.bytes, call.bytes);
  add(of.wire_bytes, call.wire_bytes);
  count_by_rule(call.rule, call.bytes, call.wire_bytes, call.reason == 0);
  add(call.reason == 0 ? of.compressed : of.raw[call.reason], 1);
  if (call.reason == 0) {
    add(of.compressed_bytes, call.bytes);
    add(of.compressed_wire_bytes, call.wire_bytes);
  }
  if (is_traced()) trace_call(call);
}

}  // namespace thinwire::nccl
