#include "process/report_text.h"

#include <sstream>

#include "process/process.h"

namespace thinwire::mpi {
namespace {

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

}  // namespace

std::string as_json(const Totals& totals) {
  std::ostringstream out;
  out << "{\"codec\": \"" << tw_codec_spec(process().settings.codec.get()) << "\""
      << ", \"messages\": " << raw_messages(totals) + totals.compressed_messages
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
      << ", \"device_messages\": " << totals.device_messages
      << ", \"staged_messages\": " << totals.staged_messages
      << ", \"staged_bytes\": " << totals.staged_bytes
      << ", \"staging_seconds\": " << 1e-9 * totals.staging_nanoseconds
      << ", \"device_failures\": " << totals.device_failures
      << ", \"receives_in_place\": " << totals.receives_in_place
      << ", \"receives_through_scratch\": " << totals.receives_through_scratch
      << ", \"copied_receives\": " << totals.copied_receives
      << ", \"deferred_writes\": " << totals.deferred_writes << ", \"hooks\": " << totals.hooks
      << ", \"received_ahead\": " << totals.received_ahead
      << ", \"raw_received_ahead\": " << totals.raw_received_ahead
      << ", \"allocations\": " << totals.allocations
      << ", \"integers\": {\"declined\": " << totals.integers_declined
      << ", \"coded\": " << totals.integers_coded << "}, " << collectives_as_json(totals)
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
  if (totals.integers_declined + totals.integers_coded != 0) {
    out << "  integers    in the bits of floats: " << totals.integers_declined
        << " arrays of doubles or pieces of them went exact for it, " << totals.integers_coded
        << " of fp32 were coded all the same\n";
  }
  for (int reason = 1; reason < TW_REASON_COUNT; ++reason) {
    if (totals.raw_by_reason[reason] == 0) continue;
    out << "    " << totals.raw_by_reason[reason] << "  "
        << tw_reason_text(static_cast<tw_reason>(reason)) << '\n';
  }
  out << collectives_as_text(totals);
  return out.str();
}

}  // namespace thinwire::mpi
