#include "shim/mpi/observe/collective_calls.h"

#include <atomic>

#include "shim/mpi/observe/rules.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/state.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {
namespace {

// Small calls and those that no codec was ever asked for are no news.
void log_native(NativeReason why, const KindKey& kind, const Planned& planned) {
  if (why == NativeReason::kBelowThreshold || why == NativeReason::kNotNamed ||
      why == NativeReason::kArguments || why == NativeReason::kCommunicator) {
    return;
  }
  log_plan(kind, planned, {.reason = why});
}

void count_compressed(const CompressedCall& call, const tw_collective_report& report) {
  Counters& counters = process().counters;
  const auto nanoseconds = [](double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); };
  counters.collective_raw_bytes += report.raw_bytes;
  counters.collective_wire_bytes += report.wire_bytes;
  counters.collective_packets += report.packets;
  for (int reason = 0; report.raw_packets != 0 && reason < TW_REASON_COUNT; ++reason) {
    const std::uint64_t packets = report.raw_packets_by_reason[reason];
    if (packets != 0) counters.collective_raw_packets[reason] += packets;
  }
  counters.collective_nanoseconds += nanoseconds(report.seconds);
  counters.collective_encode_nanoseconds += nanoseconds(report.encode_seconds);
  counters.collective_decode_nanoseconds += nanoseconds(report.decode_seconds);
  counters.collective_predicted_nanoseconds += nanoseconds(report.predicted_seconds);
  counters.collective_saved_nanoseconds += call.gain.value_or(0);
}

}  // namespace

void observe_begun(NativeReason reason) {
  ++process().counters.collectives[static_cast<std::uint32_t>(reason)];
}

void observe_compressed(const CompressedCall& call, const tw_collective_report& report) {
  if (plans_are_logged) [[unlikely]] {
    log_plan(call.kind, {report.predicted_raw_seconds, report.predicted_seconds, 0, call.link},
             {static_cast<NativeReason>(report.reason), report.raw_bytes, report.wire_bytes,
              report.encode_seconds, report.seconds});
  }
  count_by_rule(call.rule, report.raw_bytes, report.wire_bytes, true);
  count_compressed(call, report);
  trace_collective(call.call, call.traced_name, call.kind.codec, call.gain, report);
}

bool wants_native_bytes() { return is_traced() || !process().settings.report.empty(); }

void observe_native(NativeReason why, const CollectiveArguments& arguments, std::uint64_t bytes,
                    const KindKey& kind, const Planned& planned) {
  if (plans_are_logged) [[unlikely]]
    log_native(why, kind, planned);
  Counters& counters = process().counters;
  const auto reason = static_cast<std::uint32_t>(why);
  counters.collectives[reason].fetch_add(1, std::memory_order_relaxed);
  counters.native_bytes[reason].fetch_add(bytes, std::memory_order_relaxed);
  if (is_traced()) trace_native(arguments, why, bytes);
}

}  // namespace thinwire::mpi
