#include "process/silence.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/take_over.h"
#include "process/process.h"

namespace thinwire::mpi {
namespace {

std::atomic<bool> g_explained{false};

// So many small messages and calls are worth a word; a handful at a program's start is not.
constexpr std::uint64_t kManySmall = 100;
constexpr std::size_t kMostReasons = 4;

// What keeps all messages raw; "": nothing that is known yet.
std::string reason_known_at_start(bool peers_can_be_asked) {
  const Process& self = process();
  if (!self.job.reachable()) {
    return "no launcher that speaks PMIx or PMI-1 to prove what the other ranks run: "
           "all messages go raw";
  }
  if (!peers_can_be_asked) {
    return "with MPI_THREAD_MULTIPLE this MPI may speak with its launcher at any time: all "
           "messages go raw";
  }
  if (self.job.ranks_on_this_node() == self.world.size && !self.settings.plan.same_node) {
    return "all ranks are on one node: all messages go raw (THINWIRE_SAME_NODE=1 changes that)";
  }
  return "";
}

// Whether the user, or `thinwire run`, which names "auto" too, has asked for compression. A bare
// preload has not.
bool is_asked_for() {
  const auto is_set = [](const char* name) { return tw_setting_value(name) != nullptr; };
  const bool is_named =
      is_set("THINWIRE_CODEC") || is_set("THINWIRE_POLICY") || is_set("THINWIRE_LINK");
  return is_named &&
         !std::ranges::all_of(process().settings.codecs, [](auto& use) { return use.is_off(); });
}

// Whether a codec, a policy or a link is named: "auto" alone is what `thinwire run` says too.
bool names_more_than_auto() {
  const char* const codec = tw_setting_value("THINWIRE_CODEC");
  const bool is_named = (codec != nullptr && std::strcmp(codec, "auto") != 0) ||
                        tw_setting_value("THINWIRE_POLICY") != nullptr ||
                        tw_setting_value("THINWIRE_LINK") != nullptr;
  return is_named &&
         !std::ranges::all_of(process().settings.codecs, [](auto& use) { return use.is_off(); });
}

struct Left {
  std::uint64_t count;
  std::string what;
};

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string size_text(std::uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{20, "MiB"}, std::pair{10, "KiB"}}) {
    if (bytes > 0 && bytes % (std::uint64_t{1} << shift) == 0)
      return std::to_string(bytes >> shift) + unit;
  }
  return std::to_string(bytes) + " bytes";
}

std::string why(std::uint32_t reason) {
  std::string text = native_reason_text(static_cast<NativeReason>(reason));
  if (reason == TW_RAW_BELOW_THRESHOLD)
    text += " of " + size_text(process().settings.plan.threshold);
  return text;
}

// Why collectives were not even looked at.
NativeReason reason_of_settings() {
  const Settings& settings = process().settings;
  if (settings.collectives.calls == 0) return NativeReason::kNotNamed;
  return settings.wants_collectives() ? NativeReason::kPeerNotReady : NativeReason::kOff;
}

// Whether calls counted under that reason may be of any size.
bool is_of_any_size(std::uint32_t reason) {
  switch (static_cast<NativeReason>(reason)) {
    case NativeReason::kBelowThreshold:
    case NativeReason::kNotNamed:
    case NativeReason::kArguments:
    case NativeReason::kCommunicator:
      return true;
    default:
      return false;
  }
}

void add(std::uint64_t count, const char* one, std::uint32_t reason, std::vector<Left>& left) {
  if (count == 0) return;
  left.push_back(
      {count, grouped(count) + " " + one + (count == 1 ? "" : "s") + " (" + why(reason) + ")"});
}

// What was left raw, by reason; none where too little was sent to speak of.
std::vector<Left> left_raw(const Totals& totals) {
  std::vector<Left> left;
  std::uint64_t small = collectives_left_alone;
  bool is_worth_it = false;
  const auto count = [&](std::uint64_t calls, std::uint32_t reason) {
    if (is_of_any_size(reason)) small += calls;
    is_worth_it |= calls > 0 && !is_of_any_size(reason);
  };
  for (std::uint32_t reason = 1; reason < TW_REASON_COUNT; ++reason) {
    count(totals.raw_by_reason[reason], reason);
    add(totals.raw_by_reason[reason], "message", reason, left);
  }
  for (std::uint32_t reason = 1; reason < kNativeReasons; ++reason) {
    count(totals.collectives[reason], reason);
    add(totals.collectives[reason], "collective", reason, left);
  }
  add(collectives_left_alone, "collective", static_cast<std::uint32_t>(reason_of_settings()), left);
  if (!is_worth_it && small < kManySmall) left.clear();
  std::ranges::stable_sort(left, std::ranges::greater{}, &Left::count);
  return left;
}

}  // namespace

void explain_silence(bool peers_can_be_asked) {
  const Process& self = process();
  // "auto" is the default, of a bare preload too: who named nothing has asked for nothing.
  if (!names_more_than_auto() || self.world.size == 1) return;
  const std::string why = reason_known_at_start(peers_can_be_asked);
  if (why.empty()) return;
  silence_is_explained();
  if (rank_by_launcher().value_or(0) == 0) tw_log(TW_LOG_WARNING, why.c_str());
}

void silence_is_explained() { g_explained = true; }

void explain_nothing_compressed(const Totals& totals, bool of_all_ranks) {
  const Process& self = process();
  if (self.world.rank != 0 || self.world.size < 2 || g_explained || !is_asked_for()) return;
  if (totals.compressed_messages + totals.decoded_messages + totals.collectives[TW_COMPRESS] > 0)
    return;
  const std::vector<Left> left = left_raw(totals);
  if (left.empty()) return;
  std::string line = of_all_ranks
                         ? "nothing was compressed: "
                         : "rank 0 of " + std::to_string(self.world.size) + " compressed nothing: ";
  for (std::size_t at = 0; at < std::min(left.size(), kMostReasons); ++at) {
    line += (at == 0 ? "" : ", ") + left[at].what;
  }
  if (left.size() > kMostReasons) line += ", and others";
  tw_log(TW_LOG_WARNING, (line + "; `thinwire explain` and THINWIRE_LOG=plan say more").c_str());
}

}  // namespace thinwire::mpi
