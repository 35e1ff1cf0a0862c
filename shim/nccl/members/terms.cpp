#include "members/terms.h"

#include <cstdio>
#include <utility>

#include "base/bytes.h"
#include "choose/timing_round.h"
#include "native/cuda.h"
#include "run/device.h"
#include "state/job.h"
#include "state/policy.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// A name's rules may be another rank's, too, though the policy is the same. Numbers from 1 on.
std::string rules_text(std::uint64_t rules) {
  std::string text;
  for (int at = 0; rules >> at != 0; ++at) {
    if ((rules >> at & 1U) != 0) text += (text.empty() ? "" : ",") + std::to_string(at + 1);
  }
  return text.empty() ? "none" : text;
}

std::string policy_text() {
  if (settings().policy == nullptr) return "missing";
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(tw_policy_hash(settings().policy)));
  return text;
}

// The rules of spec/slot.md, "Sums": an earlier build would take a node's mean for its sum.
constexpr const char* kSumRules = "values are multiplied first";

}  // namespace

agree::Terms policy_terms(std::uint64_t rules) {
  return {{"the policy", policy_text()}, {"the policy's rules for its name", rules_text(rules)}};
}

agree::Terms all_terms(bool blocks, std::uint64_t rules) {
  const char* const link = tw_setting_value("THINWIRE_LINK");
  agree::Terms all = {
      {"the library's version", tw_version()},
      {"the codec", tw_codec_spec(settings().codecs.front().codec)},
      {"the threshold", std::to_string(settings().threshold)},
      {"how reductions and all-to-alls travel", settings().rounds ? "in rounds" : "at once"},
      {"the link", link == nullptr ? "not stated" : link},
      {"what ranks of one node exchange", settings().same_node ? "compressed" : "raw"},
      {"how calls are timed", choose::kTimingRules},
      {"how sums are made", kSumRules},
      {"what does not pay", settings().force ? "compressed" : "raw"},
      {"compression in graphs", settings().graphs ? "by every codec" : "by codecs of fixed size"},
      {"the memory for references", std::to_string(settings().references)},
      {"the communicator's way", blocks ? "blocking" : "not blocking"},
      {"a GPU that this build can use", streams() == Streams::kNone ? "missing" : "there"}};
  for (auto& each : policy_terms(rules)) all.push_back(std::move(each));
  return all;
}

// Those that lack it differ from each other, too: if none has it, none adds.
agree::Terms order_terms(int device, int rank) {
  if (!settings().orders) return {};
  const std::string missing = "missing (rank " + std::to_string(rank) + ")";
  return {
      {"what sums in the order of the ranks need", has_room_for_sums(device) ? "there" : missing}};
}

agree::Kindred kindred(int ranks, std::uint64_t rules, const std::string& name) {
  const std::uint32_t job = settings().joins ? ranks_of_job() : static_cast<std::uint32_t>(ranks);
  const std::uint32_t siblings = siblings_by(rules);
  return {job, siblings > 1 ? hash_of(name) : rules, siblings};
}

}  // namespace thinwire::nccl
