#include "shim/mpi/observe/report.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// The reason that keeps all messages raw; "": none is known yet.
std::string reason_known_at_start(bool peers_can_be_asked) {
  const Process& self = process();
  if (!self.job.reachable()) {
    return "no launcher has said what the other ranks run, by PMIx, PMI-1 or PMI-2: "
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

bool is_everything_off() {
  return std::ranges::all_of(process().settings.codecs, [](auto& use) { return use.is_off(); });
}

// Whether a codec, a policy or a link is named: "auto" alone is what `thinwire run` says too.
bool names_more_than_auto() {
  const char* const codec = tw_setting_value("THINWIRE_CODEC");
  const bool is_named = (codec != nullptr && std::strcmp(codec, "auto") != 0) ||
                        tw_setting_value("THINWIRE_POLICY") != nullptr ||
                        tw_setting_value("THINWIRE_LINK") != nullptr;
  return is_named && !is_everything_off();
}

std::string why(std::uint32_t reason) {
  std::string text = native_reason_text(static_cast<NativeReason>(reason));
  if (reason == TW_RAW_BELOW_THRESHOLD)
    text += " of " + shim::size_text(process().settings.plan.threshold);
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

shim::LeftRaw left_raw(const Totals& totals) {
  shim::LeftRaw left;
  for (std::uint32_t reason = 1; reason < TW_REASON_COUNT; ++reason) {
    left.add(totals.raw_by_reason[reason], "message", why(reason), is_of_any_size(reason));
  }
  for (std::uint32_t reason = 1; reason < kNativeReasons; ++reason) {
    left.add(totals.collectives[reason], "collective", why(reason), is_of_any_size(reason));
  }
  const auto of_settings = static_cast<std::uint32_t>(reason_of_settings());
  left.add(collectives_left_alone, "collective", why(of_settings), true);
  return left;
}

}  // namespace

void explain_all_raw(bool peers_can_be_asked) {
  const Process& self = process();
  // "auto" is the default, of a bare preload too: who named nothing has asked for nothing.
  if (!names_more_than_auto() || self.world.size == 1) return;
  const std::string why = reason_known_at_start(peers_can_be_asked);
  if (why.empty()) return;
  silence_is_explained();
  if (rank_by_launcher().value_or(0) == 0) tw_log(TW_LOG_WARNING, why.c_str());
}

void explain_nothing_compressed(const Totals& totals, bool of_all_ranks) {
  const Process& self = process();
  if (self.world.rank != 0 || self.world.size < 2 || shim::is_silence_explained()) return;
  if (!shim::is_asked_for() || is_everything_off()) return;
  if (totals.compressed_messages + totals.decoded_messages + totals.collectives[TW_COMPRESS] > 0)
    return;
  const std::string left = left_raw(totals).text();
  if (left.empty()) return;
  const std::string begin =
      of_all_ranks ? "nothing was compressed: "
                   : "rank 0 of " + std::to_string(self.world.size) + " compressed nothing: ";
  const std::string line = begin + left + "; `thinwire explain` and THINWIRE_LOG=plan say more";
  tw_log(TW_LOG_WARNING, line.c_str());
}

}  // namespace thinwire::mpi
