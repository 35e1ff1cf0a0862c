#include "shim/mpi/observe/report_text.h"

#include <cstddef>
#include <numeric>
#include <sstream>

#include "shim/mpi/observe/rules.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// The sum over all reasons but the first, which is none.
template <std::size_t kReasons>
std::uint64_t sum_of(const std::array<std::uint64_t, kReasons>& counted) {
  return std::accumulate(counted.begin() + 1, counted.end(), std::uint64_t{0});
}

// As {"why": how many, ...}.
template <std::size_t kReasons>
std::string by_reason(const std::array<std::uint64_t, kReasons>& counted) {
  std::ostringstream out;
  const char* separator = "";
  out << '{';
  for (std::size_t reason = 1; reason < kReasons; ++reason) {
    if (counted[reason] == 0) continue;
    out << separator << '"' << native_reason_text(static_cast<NativeReason>(reason))
        << "\": " << counted[reason];
    separator = ", ";
  }
  out << '}';
  return out.str();
}

double signed_seconds(std::uint64_t nanoseconds) {
  return 1e-9 * static_cast<double>(static_cast<std::int64_t>(nanoseconds));
}

// Only what was timed raw too is called saved. Nothing of messages if no rate is known.
std::string raw_as_text(const Totals& totals) {
  std::ostringstream out;
  out << "  raw         " << sum_of(totals.raw_by_reason) << " messages, " << totals.raw_bytes
      << " bytes";
  if (totals.raw_by_reason[TW_RAW_BELOW_THRESHOLD] != 0) {
    out << "; of those below the threshold only the number is known";
  }
  out << '\n';
  for (int reason = 1; reason < TW_REASON_COUNT; ++reason) {
    if (totals.raw_by_reason[reason] == 0) continue;
    out << "              " << totals.raw_by_reason[reason] << ": "
        << tw_reason_text(static_cast<tw_reason>(reason)) << '\n';
  }
  return out.str();
}

std::string saved_as_text(const Totals& totals) {
  std::ostringstream out;
  if (totals.collective_saved_nanoseconds != 0) {
    out << "  time saved  " << signed_seconds(totals.collective_saved_nanoseconds)
        << " s in collectives, as timed both ways, summed over ranks\n";
  }
  if (totals.saved_nanoseconds != 0) {
    out << "  predicted   " << signed_seconds(totals.saved_nanoseconds)
        << " s less for messages, by the link's rate; not timed, summed over ranks\n";
  }
  return out.str();
}

std::string collectives_as_json(const Totals& totals) {
  std::ostringstream out;
  out << "\"collectives\": {\"compressed\": " << totals.collectives[TW_COMPRESS]
      << ", \"bytes\": " << totals.collective_raw_bytes
      << ", \"wire_bytes\": " << totals.collective_wire_bytes
      << ", \"packets\": " << totals.collective_packets
      << ", \"raw_packets\": " << sum_of(totals.collective_raw_packets)
      << ", \"raw_packets_by_reason\": " << by_reason(totals.collective_raw_packets)
      << ", \"seconds\": " << 1e-9 * totals.collective_nanoseconds
      << ", \"encode_seconds\": " << 1e-9 * totals.collective_encode_nanoseconds
      << ", \"decode_seconds\": " << 1e-9 * totals.collective_decode_nanoseconds
      << ", \"predicted_seconds\": " << 1e-9 * totals.collective_predicted_nanoseconds
      << ", \"saved_seconds\": " << signed_seconds(totals.collective_saved_nanoseconds)
      << ", \"native_calls\": " << sum_of(totals.collectives)
      << ", \"in_rank_order\": " << totals.sums_in_rank_order
      << ", \"native_by_reason\": " << by_reason(totals.collectives)
      << ", \"native_bytes\": " << sum_of(totals.native_bytes)
      << ", \"native_bytes_by_reason\": " << by_reason(totals.native_bytes) << "}";
  return out.str();
}

// JSON's figures by reason as people read them: ` (a: 1, b: 2)`; nothing if there are none.
std::string in_words(std::string json) {
  std::erase_if(json, [](char letter) { return letter == '"' || letter == '{' || letter == '}'; });
  return json.empty() ? "" : " (" + json + ")";
}

std::string collectives_as_text(const Totals& totals) {
  const std::uint64_t native = sum_of(totals.collectives);
  const std::uint64_t raw_packets = sum_of(totals.collective_raw_packets);
  if (totals.collectives[TW_COMPRESS] + native + totals.sums_in_rank_order == 0) return "";
  std::ostringstream out;
  out << "  collectives " << totals.collectives[TW_COMPRESS] << " calls compressed, "
      << totals.collective_raw_bytes << " bytes sent as " << totals.collective_wire_bytes << ", "
      << 1e-9 * totals.collective_nanoseconds << " s (encode "
      << 1e-9 * totals.collective_encode_nanoseconds << ", decode "
      << 1e-9 * totals.collective_decode_nanoseconds << ") summed over ranks\n"
      << "              " << totals.collective_packets << " packets, " << raw_packets
      << " of them raw" << in_words(by_reason(totals.collective_raw_packets)) << '\n'
      << "              " << native << " calls left to the MPI"
      << in_words(by_reason(totals.collectives)) << '\n'
      << "              " << sum_of(totals.native_bytes) << " bytes in those"
      << in_words(by_reason(totals.native_bytes)) << '\n';
  if (totals.sums_in_rank_order > 0) {
    out << "              " << totals.sums_in_rank_order
        << " of those, and scans, added in the order of the ranks\n";
  }
  return out.str();
}

std::string pool_as_json(const char* name, const Totals::Pool& pool) {
  std::ostringstream out;
  out << '"' << name << "\": {\"idle_bytes\": " << pool.idle_bytes
      << ", \"loaned_bytes\": " << pool.loaned_bytes << ", \"allocations\": " << pool.allocations
      << ", \"loans\": " << pool.loans << ", \"peak_bytes\": " << pool.peak_bytes << "}";
  return out.str();
}

std::string pool_as_text(const char* name, const Totals::Pool& pool) {
  if (pool.loans == 0) return "";
  std::ostringstream out;
  out << "              " << name << ": " << pool.loans << " loans, " << pool.allocations
      << " allocations, " << pool.idle_bytes << " bytes idle, " << pool.loaned_bytes << " on loan, "
      << pool.peak_bytes << " at most\n";
  return out.str();
}

}  // namespace

std::string as_json(const Totals& totals) {
  std::ostringstream out;
  out << "{\"codec\": \"" << tw_codec_spec(process().settings.codec()) << "\""
      << ", \"messages\": " << sum_of(totals.raw_by_reason) + totals.compressed_messages
      << ", \"compressed_messages\": " << totals.compressed_messages
      << ", \"decoded_messages\": " << totals.decoded_messages
      << ", \"damaged_messages\": " << totals.damaged_messages
      << ", \"messages_without_memory\": " << totals.messages_without_memory
      << ", \"bytes\": " << totals.raw_bytes + totals.compressed_bytes
      << ", \"wire_bytes\": " << totals.raw_bytes + totals.wire_bytes
      << ", \"compressed_bytes\": " << totals.compressed_bytes
      << ", \"compressed_wire_bytes\": " << totals.wire_bytes
      << ", \"encode_seconds\": " << 1e-9 * totals.encode_nanoseconds
      << ", \"decode_seconds\": " << 1e-9 * totals.decode_nanoseconds
      << ", \"predicted_seconds\": " << 1e-9 * totals.predicted_nanoseconds
      << ", \"predicted_saved_seconds\": " << signed_seconds(totals.saved_nanoseconds)
      << ", \"device_messages\": " << totals.device_messages
      << ", \"staged_messages\": " << totals.staged_messages
      << ", \"staged_bytes\": " << totals.staged_bytes
      << ", \"staging_seconds\": " << 1e-9 * totals.staging_nanoseconds
      << ", \"device_failures\": " << totals.device_failures
      << ", \"receives_in_place\": " << totals.receives_in_place
      << ", \"receives_through_scratch\": " << totals.receives_through_scratch
      << ", \"copied_receives\": " << totals.copied_receives
      << ", \"deferred_writes\": " << totals.deferred_writes
      << ", \"continuations\": " << totals.continuations
      << ", \"received_ahead\": " << totals.received_ahead
      << ", \"raw_received_ahead\": " << totals.raw_received_ahead
      << ", \"allocations\": " << totals.allocations << ", \"pools\": {"
      << pool_as_json("host", totals.host_pool) << ", "
      << pool_as_json("pinned", totals.pinned_pool) << ", " << pool_as_json("gpu", totals.gpu_pools)
      << "}"
      << ", \"integers\": {\"declined\": " << totals.integers_declined
      << ", \"coded\": " << totals.integers_coded << "}, " << collectives_as_json(totals)
      << ", \"raw_by_reason\": " << by_reason(totals.raw_by_reason) << rules_as_json(totals.rules)
      << "}\n";
  return out.str();
}

std::string as_text(const Totals& totals, const std::string& whose) {
  std::ostringstream out;
  const double ratio =
      totals.wire_bytes == 0 ? 1 : static_cast<double>(totals.compressed_bytes) / totals.wire_bytes;
  out << "thinwire: " << whose << ", codec " << tw_codec_spec(process().settings.codec()) << '\n'
      << "  compressed  " << totals.compressed_messages << " messages, " << totals.compressed_bytes
      << " bytes sent as " << totals.wire_bytes << ", ratio " << ratio << '\n'
      << raw_as_text(totals) << "  decoded     " << totals.decoded_messages << " messages, "
      << totals.damaged_messages << " damaged\n"
      << "  codec time  encode " << 1e-9 * totals.encode_nanoseconds << " s, decode "
      << 1e-9 * totals.decode_nanoseconds << " s, summed over ranks\n"
      << saved_as_text(totals) << "  receives    " << totals.receives_in_place
      << " prepared in the program's buffer, " << totals.receives_through_scratch
      << " in scratch memory (" << totals.copied_receives << " raw ones copied, "
      << totals.deferred_writes << " delayed by another receive)\n"
      << "  memory      " << totals.allocations << " allocations by the library, "
      << totals.continuations << " requests watched\n"
      << pool_as_text("host scratch", totals.host_pool)
      << pool_as_text("pinned scratch", totals.pinned_pool)
      << pool_as_text("GPU scratch", totals.gpu_pools);
  if (totals.device_messages != 0 || totals.staging_nanoseconds != 0) {
    out << "  GPU memory  " << totals.device_messages << " messages sent, of them "
        << totals.staged_messages << " raw through pinned memory (" << totals.staged_bytes
        << " bytes), copies " << 1e-9 * totals.staging_nanoseconds << " s, failures "
        << totals.device_failures << '\n';
  }
  if (totals.integers_declined + totals.integers_coded != 0) {
    out << "  integers    in the bits of floats: " << totals.integers_declined
        << " arrays of doubles, or pieces of them, sent exactly; " << totals.integers_coded
        << " of fp32 encoded all the same\n";
  }
  out << collectives_as_text(totals);
  return out.str();
}

}  // namespace thinwire::mpi
