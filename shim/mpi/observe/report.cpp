#include "shim/mpi/observe/report.h"

#include <string>
#include <utility>

#include "base/standard_error.h"
#include "shim/common/trace/recorder.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/report_text.h"
#include "shim/mpi/observe/rules.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

constexpr int kTotalsWords = sizeof(Totals) / sizeof(std::uint64_t);

void add(tw_memory memory, int device, Totals::Pool& sum) {
  const tw_pool_counters counters = describe_pool(memory, device);
  sum.idle_bytes += counters.idle_bytes;
  sum.loaned_bytes += counters.loaned_bytes;
  sum.allocations += counters.allocations;
  sum.loans += counters.loans;
  sum.peak_bytes += counters.peak_bytes;
}

void add_pools(Totals& totals) {
  constexpr int kMostGpus = 64;  // asking how many there are would start CUDA
  add(TW_MEMORY_HOST, -1, totals.host_pool);
  add(TW_MEMORY_PINNED, -1, totals.pinned_pool);
  for (int device = 0; device < kMostGpus; ++device) {
    add(TW_MEMORY_DEVICE, device, totals.gpu_pools);
  }
}

}  // namespace

Totals own_totals() {
  const Counters& counters = process().counters;
  Totals totals{};
  for (int reason = 0; reason < TW_REASON_COUNT; ++reason) {
    totals.raw_by_reason[reason] = counters.raw_by_reason[reason];
    totals.collective_raw_packets[reason] = counters.collective_raw_packets[reason];
  }
  totals.raw_by_reason[TW_RAW_BELOW_THRESHOLD] = sends_below_threshold;
  totals.raw_bytes = counters.raw_bytes;
  totals.compressed_messages = counters.compressed_messages;
  totals.compressed_bytes = counters.compressed_bytes;
  totals.wire_bytes = counters.wire_bytes;
  totals.decoded_messages = counters.decoded_messages;
  totals.damaged_messages = counters.damaged_messages;
  totals.messages_without_memory = counters.messages_without_memory;
  totals.encode_nanoseconds = counters.encode_nanoseconds;
  totals.decode_nanoseconds = counters.decode_nanoseconds;
  totals.predicted_nanoseconds = counters.predicted_nanoseconds;
  totals.saved_nanoseconds = static_cast<std::uint64_t>(counters.saved_nanoseconds);
  totals.device_messages = counters.device_messages;
  totals.staged_messages = counters.staged_messages;
  totals.staged_bytes = counters.staged_bytes;
  totals.staging_nanoseconds = counters.staging_nanoseconds;
  totals.device_failures = counters.device_failures;
  totals.receives_in_place = counters.receives_in_place;
  totals.receives_through_scratch = counters.receives_through_scratch;
  totals.copied_receives = counters.copied_receives;
  totals.deferred_writes = counters.deferred_writes;
  totals.continuations = counters.continuations;
  totals.received_ahead = counters.received_ahead;
  totals.raw_received_ahead = counters.raw_received_ahead;
  totals.allocations = process().pool.allocations() + process().system.allocations();
  add_pools(totals);
  for (int reason = 0; reason < kNativeReasons; ++reason) {
    totals.collectives[reason] = counters.collectives[reason];
    totals.native_bytes[reason] = counters.native_bytes[reason];
  }
  totals.sums_in_rank_order = counters.sums_in_rank_order;
  totals.collective_raw_bytes = counters.collective_raw_bytes;
  totals.collective_wire_bytes = counters.collective_wire_bytes;
  totals.collective_packets = counters.collective_packets;
  totals.collective_nanoseconds = counters.collective_nanoseconds;
  totals.collective_encode_nanoseconds = counters.collective_encode_nanoseconds;
  totals.collective_decode_nanoseconds = counters.collective_decode_nanoseconds;
  totals.collective_predicted_nanoseconds = counters.collective_predicted_nanoseconds;
  totals.collective_saved_nanoseconds =
      static_cast<std::uint64_t>(counters.collective_saved_nanoseconds);
  tw_integer_counters integers{};
  integers.size = sizeof integers;
  tw_integers_describe(&integers);
  totals.integers_declined = integers.declined;
  totals.integers_coded = integers.coded;
  totals.rules = totals_by_rule();
  return totals;
}

namespace {

enum class Reporters { kNotAsked, kEverybody, kNotAll, kNotKnown };
Reporters g_reporters = Reporters::kNotAsked;
bool g_reported = false;  // since MPI started

Reporters ask_for_reporters() {
  const Process& self = process();
  for (int rank = 0; rank < self.world.size; ++rank) {
    const auto [known, capabilities] = self.job.insist_on_capabilities_of(rank);
    if (!known) return Reporters::kNotKnown;
    if (!capabilities || !capabilities->reports ||
        capabilities->format_version != tw_format_version()) {
      return Reporters::kNotAll;
    }
  }
  return self.job.capabilities_are_out() ? Reporters::kEverybody : Reporters::kNotKnown;
}

bool everybody_reports() {
  if (g_reporters == Reporters::kNotAsked) g_reporters = ask_for_reporters();
  if (g_reporters == Reporters::kNotKnown) {
    tw_log(TW_LOG_ERROR, ("rank " + std::to_string(process().world.rank) +
                          " does not learn who reports: others may wait for it in MPI_Finalize")
                             .c_str());
    raise(MPI_COMM_WORLD, MPI_ERR_OTHER);
  }
  return g_reporters == Reporters::kEverybody;
}

void write(const Totals& totals, const std::string& whose, const std::string& suffix) {
  const std::string& target = process().settings.report;
  if (target == "1") {
    return write_to_stderr(as_text(totals, whose));
  }
  shim::write_report(target + suffix, as_json(totals));
}

}  // namespace

void expect_report() {
  g_reporters = Reporters::kNotAsked;
  g_reported = false;
}

void learn_who_reports() {
  if (!process().settings.report.empty()) g_reporters = ask_for_reporters();
}

void report(bool has_comm_world) {
  const Process& self = process();
  if (std::exchange(g_reported, true)) return;
  const std::string& target = self.settings.report;
  if (target.empty()) {
    if (self.world.rank == 0) explain_nothing_compressed(own_totals(), false);
    return;
  }
  // The report on standard error says it all.
  if (target == "1") silence_is_explained();
  Totals totals = own_totals();
  if (!has_comm_world || !everybody_reports()) {
    const std::string rank = std::to_string(self.world.rank);
    explain_nothing_compressed(totals, false);
    return write(totals, "rank " + rank + " alone", ".rank" + rank);
  }
  Totals sum{};
  real().Reduce(&totals, &sum, kTotalsWords, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (self.world.rank != 0) return;
  write(sum, std::to_string(self.world.size) + " ranks", "");
  explain_nothing_compressed(sum, true);
  if (sum.messages_without_memory != 0) {
    tw_log(TW_LOG_ERROR, (std::to_string(sum.messages_without_memory) +
                          " compressed messages were not decoded for lack of memory")
                             .c_str());
  }
  if (sum.compressed_messages !=
      sum.decoded_messages + sum.damaged_messages + sum.messages_without_memory) {
    tw_log(
        TW_LOG_ERROR,
        (std::to_string(sum.compressed_messages) + " compressed messages were sent and " +
         std::to_string(sum.decoded_messages) +
         " decoded: the others were truncated by receives too small for them, never received, or "
         "received by calls that the library does not see (docs/reference/limits.md)")
            .c_str());
  }
}

}  // namespace thinwire::mpi
