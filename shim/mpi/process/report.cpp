#include "process/report.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "abi/real.h"
#include "process/process.h"
#include "process/shortcut.h"

namespace thinwire::mpi {
namespace {

struct Totals {
  std::array<std::uint64_t, TW_REASON_COUNT> raw_by_reason;
  std::uint64_t raw_bytes;
  std::uint64_t compressed_messages;
  std::uint64_t compressed_bytes;
  std::uint64_t wire_bytes;
  std::uint64_t decoded_messages;
  std::uint64_t damaged_messages;
  std::uint64_t encode_nanoseconds;
  std::uint64_t decode_nanoseconds;
  std::uint64_t predicted_nanoseconds;
  std::uint64_t device_messages;
  std::uint64_t staged_messages;
  std::uint64_t staged_bytes;
  std::uint64_t staging_nanoseconds;
  std::uint64_t device_failures;
  std::uint64_t receives_in_place;
  std::uint64_t receives_through_scratch;
  std::uint64_t copied_receives;
  std::uint64_t deferred_writes;
  std::uint64_t hooks;
  std::uint64_t allocations;
  std::array<std::uint64_t, kNativeReasons> collectives;
  std::uint64_t collective_raw_bytes;
  std::uint64_t collective_wire_bytes;
  std::uint64_t collective_packets;
  std::uint64_t collective_raw_packets;
  std::uint64_t collective_nanoseconds;
  std::uint64_t collective_encode_nanoseconds;
  std::uint64_t collective_decode_nanoseconds;
  std::uint64_t collective_predicted_nanoseconds;
};
constexpr int kTotalsWords = sizeof(Totals) / sizeof(std::uint64_t);

Totals own_totals() {
  const Counters& counters = process().counters;
  Totals totals{};
  for (int reason = 0; reason < TW_REASON_COUNT; ++reason) {
    totals.raw_by_reason[reason] = counters.raw_by_reason[reason];
  }
  totals.raw_by_reason[TW_RAW_BELOW_THRESHOLD] = sends_below_threshold;
  totals.raw_bytes = counters.raw_bytes;
  totals.compressed_messages = counters.compressed_messages;
  totals.compressed_bytes = counters.compressed_bytes;
  totals.wire_bytes = counters.wire_bytes;
  totals.decoded_messages = counters.decoded_messages;
  totals.damaged_messages = counters.damaged_messages;
  totals.encode_nanoseconds = counters.encode_nanoseconds;
  totals.decode_nanoseconds = counters.decode_nanoseconds;
  totals.predicted_nanoseconds = counters.predicted_nanoseconds;
  totals.device_messages = counters.device_messages;
  totals.staged_messages = counters.staged_messages;
  totals.staged_bytes = counters.staged_bytes;
  totals.staging_nanoseconds = counters.staging_nanoseconds;
  totals.device_failures = counters.device_failures;
  totals.receives_in_place = counters.receives_in_place;
  totals.receives_through_scratch = counters.receives_through_scratch;
  totals.copied_receives = counters.copied_receives;
  totals.deferred_writes = counters.deferred_writes;
  totals.hooks = counters.hooks;
  totals.allocations = process().pool.allocations() + process().system.allocations();
  for (int reason = 0; reason < kNativeReasons; ++reason) {
    totals.collectives[reason] = counters.collectives[reason];
  }
  totals.collective_raw_bytes = counters.collective_raw_bytes;
  totals.collective_wire_bytes = counters.collective_wire_bytes;
  totals.collective_packets = counters.collective_packets;
  totals.collective_raw_packets = counters.collective_raw_packets;
  totals.collective_nanoseconds = counters.collective_nanoseconds;
  totals.collective_encode_nanoseconds = counters.collective_encode_nanoseconds;
  totals.collective_decode_nanoseconds = counters.collective_decode_nanoseconds;
  totals.collective_predicted_nanoseconds = counters.collective_predicted_nanoseconds;
  return totals;
}

bool everybody_reports() {
  const Process& self = process();
  for (int rank = 0; rank < self.world.size; ++rank) {
    const auto card = self.job.card_of(rank).card;
    if (!card || !card->reports || card->format_version != tw_format_version()) return false;
  }
  return true;
}

std::uint64_t raw_messages(const Totals& totals) {
  std::uint64_t messages = 0;
  for (const std::uint64_t count : totals.raw_by_reason) messages += count;
  return messages;
}

// What is counted of each rank's calls, as {"why": how many, ...}.
std::string collectives_by_reason(const Totals& totals) {
  std::ostringstream out;
  const char* separator = "{";
  for (int reason = 1; reason < kNativeReasons; ++reason) {
    if (totals.collectives[reason] == 0) continue;
    out << separator << '"' << native_reason_text(static_cast<NativeReason>(reason))
        << "\": " << totals.collectives[reason];
    separator = ", ";
  }
  out << (*separator == '{' ? "{}" : "}");
  return out.str();
}

std::string collectives_as_json(const Totals& totals) {
  std::ostringstream out;
  out << "\"collectives\": {\"entered\": " << totals.collectives[TW_COMPRESS]
      << ", \"bytes\": " << totals.collective_raw_bytes
      << ", \"wire_bytes\": " << totals.collective_wire_bytes
      << ", \"packets\": " << totals.collective_packets
      << ", \"raw_packets\": " << totals.collective_raw_packets
      << ", \"seconds\": " << 1e-9 * totals.collective_nanoseconds
      << ", \"encode_seconds\": " << 1e-9 * totals.collective_encode_nanoseconds
      << ", \"decode_seconds\": " << 1e-9 * totals.collective_decode_nanoseconds
      << ", \"predicted_seconds\": " << 1e-9 * totals.collective_predicted_nanoseconds
      << ", \"native_by_reason\": " << collectives_by_reason(totals) << "}";
  return out.str();
}

std::string collectives_as_text(const Totals& totals) {
  std::uint64_t native = 0;
  for (int reason = 1; reason < kNativeReasons; ++reason) native += totals.collectives[reason];
  if (totals.collectives[TW_COMPRESS] + native == 0) return "";
  std::ostringstream out;
  out << "  collectives " << totals.collectives[TW_COMPRESS] << " calls compressed, "
      << totals.collective_raw_bytes << " bytes sent as " << totals.collective_wire_bytes
      << " on the wire, " << 1e-9 * totals.collective_nanoseconds << " s (encode "
      << 1e-9 * totals.collective_encode_nanoseconds << ", decode "
      << 1e-9 * totals.collective_decode_nanoseconds << ") summed over ranks\n"
      << "              " << native << " calls the MPI's own " << collectives_by_reason(totals)
      << '\n';
  return out.str();
}

std::string as_json(const Totals& totals) {
  std::ostringstream out;
  out << "{\"codec\": \"" << tw_codec_spec(process().settings.codec.get()) << "\""
      << ", \"messages\": " << raw_messages(totals) + totals.compressed_messages
      << ", \"compressed_messages\": " << totals.compressed_messages
      << ", \"decoded_messages\": " << totals.decoded_messages
      << ", \"damaged_messages\": " << totals.damaged_messages
      << ", \"bytes\": " << totals.raw_bytes + totals.compressed_bytes
      << ", \"wire_bytes\": " << totals.raw_bytes + totals.wire_bytes
      << ", \"compressed_bytes\": " << totals.compressed_bytes
      << ", \"compressed_wire_bytes\": " << totals.wire_bytes
      << ", \"encode_seconds\": " << 1e-9 * totals.encode_nanoseconds
      << ", \"decode_seconds\": " << 1e-9 * totals.decode_nanoseconds
      << ", \"predicted_seconds\": " << 1e-9 * totals.predicted_nanoseconds
      << ", \"device_messages\": " << totals.device_messages
      << ", \"staged_messages\": " << totals.staged_messages
      << ", \"staged_bytes\": " << totals.staged_bytes
      << ", \"staging_seconds\": " << 1e-9 * totals.staging_nanoseconds
      << ", \"device_failures\": " << totals.device_failures
      << ", \"receives_in_place\": " << totals.receives_in_place
      << ", \"receives_through_scratch\": " << totals.receives_through_scratch
      << ", \"copied_receives\": " << totals.copied_receives
      << ", \"deferred_writes\": " << totals.deferred_writes << ", \"hooks\": " << totals.hooks
      << ", \"allocations\": " << totals.allocations << ", " << collectives_as_json(totals)
      << ", \"raw_by_reason\": {";
  const char* separator = "";
  for (int reason = 1; reason < TW_REASON_COUNT; ++reason) {
    if (totals.raw_by_reason[reason] == 0) continue;
    out << separator << '"' << tw_reason_text(static_cast<tw_reason>(reason))
        << "\": " << totals.raw_by_reason[reason];
    separator = ", ";
  }
  out << "}}\n";
  return out.str();
}

std::string as_text(const Totals& totals, const std::string& whose) {
  std::ostringstream out;
  const double ratio =
      totals.wire_bytes == 0 ? 1 : static_cast<double>(totals.compressed_bytes) / totals.wire_bytes;
  out << "thinwire: " << whose << ", codec " << tw_codec_spec(process().settings.codec.get())
      << '\n'
      << "  compressed  " << totals.compressed_messages << " messages, " << totals.compressed_bytes
      << " bytes as " << totals.wire_bytes << " on the wire, ratio " << ratio << '\n'
      << "  decoded     " << totals.decoded_messages << " messages, damaged "
      << totals.damaged_messages << '\n'
      << "  codec time  encode " << 1e-9 * totals.encode_nanoseconds << " s, decode "
      << 1e-9 * totals.decode_nanoseconds << " s, summed over ranks\n"
      << "  raw         " << raw_messages(totals) << " messages, " << totals.raw_bytes
      << " bytes in those above the threshold\n"
      << "  receives    " << totals.receives_in_place << " in place, "
      << totals.receives_through_scratch << " through scratch, of them " << totals.copied_receives
      << " copied raw, " << totals.deferred_writes << " deferred\n"
      << "  memory      " << totals.hooks << " hooks on requests, " << totals.allocations
      << " allocations\n";
  if (totals.device_messages != 0 || totals.staging_nanoseconds != 0) {
    out << "  GPU memory  " << totals.device_messages << " messages sent, of them "
        << totals.staged_messages << " raw through pinned memory (" << totals.staged_bytes
        << " bytes), copies " << 1e-9 * totals.staging_nanoseconds << " s, failures "
        << totals.device_failures << '\n';
  }
  for (int reason = 1; reason < TW_REASON_COUNT; ++reason) {
    if (totals.raw_by_reason[reason] == 0) continue;
    out << "    " << totals.raw_by_reason[reason] << "  "
        << tw_reason_text(static_cast<tw_reason>(reason)) << '\n';
  }
  out << collectives_as_text(totals);
  return out.str();
}

void write(const Totals& totals, const std::string& whose, const std::string& suffix) {
  const std::string& target = process().settings.report;
  if (target == "1") {
    const std::string text = as_text(totals, whose);
    std::fwrite(text.data(), 1, text.size(), stderr);
    return;
  }
  std::ofstream file(target + suffix);
  file << as_json(totals);
  if (!file.flush()) tw_log(TW_LOG_ERROR, ("cannot write " + target + suffix).c_str());
}

}  // namespace

void report(bool has_comm_world) {
  const Process& self = process();
  static bool reported = false;
  if (std::exchange(reported, true)) return;
  if (self.settings.report.empty()) return;
  Totals totals = own_totals();
  if (!has_comm_world || !everybody_reports()) {
    const std::string rank = std::to_string(self.world.rank);
    return write(totals, "rank " + rank + " alone", ".rank" + rank);
  }
  Totals sum{};
  real().Reduce(&totals, &sum, kTotalsWords, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (self.world.rank != 0) return;
  write(sum, std::to_string(self.world.size) + " ranks", "");
  if (sum.compressed_messages != sum.decoded_messages + sum.damaged_messages) {
    tw_log(TW_LOG_ERROR,
           (std::to_string(sum.compressed_messages) + " compressed messages were sent and " +
            std::to_string(sum.decoded_messages) +
            " decoded: the others were truncated by receives too small for them, or never received")
               .c_str());
  }
}

}  // namespace thinwire::mpi
