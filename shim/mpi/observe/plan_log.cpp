#include "shim/mpi/observe/plan_log.h"

#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

bool plans_are_logged = false;

namespace {

constexpr std::uint64_t kMostChanges = 8;
// A program has some tens of kinds.
constexpr std::size_t kMostKinds = 512;

struct Sum {
  std::uint64_t calls = 0, changes = 0;
  std::array<std::uint64_t, kNativeReasons> by_reason{};
  std::uint64_t bytes = 0, wire_bytes = 0;  // of what was compressed
  double encode_seconds = 0, seconds = 0, predicted = 0, predicted_raw = 0;
  NativeReason last = NativeReason::kCompressed;
};

std::mutex g_mutex;  // guards the sums
std::map<KindKey, Sum>& sums() {
  static auto* const of_process = new std::map<KindKey, Sum>;
  return *of_process;
}

std::string octave_text(std::uint64_t bytes) {
  const int unit = bytes >= 1 << 20 ? 20 : bytes >= 1 << 10 ? 10 : 0;
  return std::to_string(bytes >> unit) + (unit == 20 ? " MiB" : unit == 10 ? " KiB" : " bytes");
}

std::string seconds_text(double seconds) {
  const bool is_long = seconds >= 1, is_short = seconds < 1e-3;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s",
                seconds * (is_long    ? 1
                           : is_short ? 1e6
                                      : 1e3),
                is_long    ? "s"
                : is_short ? "us"
                           : "ms");
  return text;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

std::string both_text(double raw_nanoseconds, double coded_nanoseconds) {
  return seconds_text(1e-9 * raw_nanoseconds) + " and compressed " +
         seconds_text(1e-9 * coded_nanoseconds);
}

const char* place_text(std::uint32_t place) {
  switch (place) {
    case TW_PEER_SELF:
      return "to itself";
    case TW_PEER_SAME_NODE:
      return "to its node";
    case TW_PEER_OTHER_NODE:
      return "to another node";
    default:
      return "to a peer that is not known";
  }
}

const char* dtype_text(std::uint32_t dtype) {
  return dtype == TW_F32 ? "f32" : dtype == TW_F64 ? "f64" : "other values";
}

// As in "rank 3: send of f32, 1 MiB to 2 MiB, to another node, mpc: ".
std::string name_of(const KindKey& of) {
  const bool is_send = of.operation == TW_POLICY_SEND;
  std::string text = "rank " + std::to_string(process().world.rank) + ": ";
  text += is_send ? "send" : tw_operation_text(of.operation);
  text += std::string(" of ") + dtype_text(of.dtype) + ", ";
  const std::uint64_t from = of.size_bits == 0 ? 0 : std::uint64_t{1} << (of.size_bits - 1);
  text += octave_text(from) + " to " + octave_text(2 * from) + ", ";
  text += is_send ? place_text(of.place) : "on " + std::to_string(of.ranks) + " ranks";
  if (of.codec != nullptr) text += std::string(", ") + tw_codec_spec(of.codec);
  return text + ": ";
}

std::string choice_text(NativeReason reason) {
  if (reason == NativeReason::kCompressed) return "compressed";
  return std::string("raw, ") + native_reason_text(reason);
}

std::string predicted_text(const Planned& planned) {
  if (planned.raw_seconds <= 0) return "; no prediction without a link's rate";
  std::string text = "; predicted " + seconds_text(planned.raw_seconds) + " raw, " +
                     seconds_text(planned.seconds) + " compressed";
  if (planned.least_ratio > 0) {
    text += ", which needs a ratio of " + number_text(planned.least_ratio);
  }
  const choose::LinkRate& link = planned.link;
  if (link.bytes_per_second <= 0) return text;
  return text + ", at " + number_text(1e-6 * link.bytes_per_second) + " MB/s (" +
         choose::source_text(link.source) + ")";
}

std::string ratio_text(std::uint64_t bytes, std::uint64_t wire_bytes) {
  if (wire_bytes == 0) return "";
  return ", " + std::to_string(bytes) + " bytes as " + std::to_string(wire_bytes) + ", ratio " +
         number_text(static_cast<double>(bytes) / static_cast<double>(wire_bytes));
}

std::string took_text(double encode_seconds, double seconds) {
  std::string text;
  if (encode_seconds > 0) text += "; took encode " + seconds_text(encode_seconds);
  if (seconds > 0) text += (text.empty() ? "; took " : ", in all ") + seconds_text(seconds);
  return text;
}

std::string line_of(const KindKey& of, const Planned& planned, const Outcome& outcome,
                    const Sum& sum) {
  std::string line = name_of(of);
  if (sum.calls > 0) line += "after " + std::to_string(sum.calls) + " now ";
  line += choice_text(outcome.reason) + predicted_text(planned) +
          took_text(outcome.encode_seconds, outcome.seconds);
  if (outcome.reason == NativeReason::kCompressed) {
    line += ratio_text(outcome.bytes, outcome.wire_bytes);
  }
  if (sum.calls > 0 && sum.changes + 1 == kMostChanges) line += "; later changes are not shown";
  return line;
}

std::string last_line_of(const KindKey& of, const Sum& sum) {
  const char* const what = of.operation == TW_POLICY_SEND ? " messages:" : " calls:";
  std::string line = name_of(of) + "in all " + std::to_string(sum.calls) + what;
  for (int at = 0; at < kNativeReasons; ++at) {
    const std::uint64_t count = sum.by_reason[static_cast<std::size_t>(at)];
    if (count == 0) continue;
    line += (line.back() == ':' ? " " : ", ") + std::to_string(count) + " " +
            choice_text(static_cast<NativeReason>(at));
  }
  line += took_text(sum.encode_seconds, sum.seconds) + ratio_text(sum.bytes, sum.wire_bytes);
  if (sum.predicted > 0) {
    line += "; predicted for the compressed ones " + seconds_text(sum.predicted) + ", raw " +
            seconds_text(sum.predicted_raw);
  }
  return line + "; " + std::to_string(sum.changes) + " changes of the choice";
}

std::string came_text(const choose::Came& came) {
  return "; of this size came " + std::to_string(came.coded) + " compressed, " +
         std::to_string(came.raw) + " raw";
}

void add(const Planned& planned, const Outcome& outcome, Sum& sum) {
  ++sum.calls;
  ++sum.by_reason[static_cast<std::size_t>(outcome.reason)];
  // No choice was made yet, or it holds.
  if (outcome.reason != NativeReason::kBeingTimed || sum.calls == 1) sum.last = outcome.reason;
  sum.encode_seconds += outcome.encode_seconds;
  if (outcome.reason != NativeReason::kCompressed) return;
  sum.bytes += outcome.bytes;
  sum.wire_bytes += outcome.wire_bytes;
  sum.seconds += outcome.seconds;
  sum.predicted += planned.seconds;
  sum.predicted_raw += planned.raw_seconds;
}

}  // namespace

KindKey kind_key_of(const CodecUse& use, std::uint32_t dtype, std::uint64_t bytes, tw_peer place) {
  return {.dtype = dtype,
          .size_bits = static_cast<std::uint32_t>(std::bit_width(bytes)),
          .place = place,
          .codec = use.codec.get()};
}

void log_plan(const KindKey& of, const Planned& planned, const Outcome& outcome) {
  const std::lock_guard lock(g_mutex);
  auto& all = sums();
  if (all.size() >= kMostKinds && !all.contains(of)) return;
  Sum& sum = all[of];
  const bool is_change =
      sum.calls > 0 && sum.last != outcome.reason && outcome.reason != NativeReason::kBeingTimed;
  if (sum.calls == 0 || (is_change && sum.changes < kMostChanges)) {
    tw_log(TW_LOG_PLAN, line_of(of, planned, outcome, sum).c_str());
  }
  sum.changes += is_change ? 1 : 0;
  add(planned, outcome, sum);
}

void log_decision(const KindKey& of, const Timed& timed) {
  std::string line =
      name_of(of) + "timed: raw took " + both_text(timed.raw_nanoseconds, timed.coded_nanoseconds);
  if (timed.raw_mean_nanoseconds > 0) {
    line += ", on average " + both_text(timed.raw_mean_nanoseconds, timed.coded_mean_nanoseconds);
  }
  if (timed.standard_deviations) {
    line += ", faster by " + number_text(*timed.standard_deviations) + " standard deviations";
  }
  line += std::string(", so ") + (timed.is_coded ? "compressed" : "raw") + " (timing round " +
          std::to_string(timed.round) + ")";
  tw_log(TW_LOG_PLAN, line.c_str());
}

void log_plans_at_end(choose::Came (*came)(std::uint32_t size_bits)) {
  const std::lock_guard lock(g_mutex);
  for (const auto& [of, sum] : sums()) {
    std::string line = last_line_of(of, sum);
    if (of.operation == TW_POLICY_SEND) line += came_text(came(of.size_bits));
    tw_log(TW_LOG_PLAN, line.c_str());
  }
  sums().clear();
}

}  // namespace thinwire::mpi
