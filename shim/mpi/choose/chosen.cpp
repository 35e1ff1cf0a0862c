#include "shim/mpi/choose/chosen.h"

#include <algorithm>

#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/values.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

Choice choice_of(int rule) {
  const Settings& settings = process().settings;
  if (rule < 0) return {&settings.codecs.front(), rule};
  const auto at = static_cast<std::size_t>(rule);
  return {&settings.codecs[settings.codec_of_rule[at]], rule, settings.holds_of_rule[at]};
}

// The type that no rule takes at all.
constexpr std::uint32_t kNoneOfThese = UINT32_MAX;
std::uint32_t dtype_for_rules(const TypeFacts& type) {
  const bool are_ruled = type.leaf != TW_BYTES || type.values == Values::kWords;
  return are_ruled ? std::uint32_t{type.leaf} : kNoneOfThese;
}

int match(const tw_policy_call& call) {
  return call.rules == 0 ? -1 : tw_policy_match(process().settings.policy, &call);
}

std::uint32_t span_to(std::uint32_t place) {
  if (place == TW_PEER_UNKNOWN) return TW_SPAN_NOT_KNOWN;
  return place == TW_PEER_OTHER_NODE ? TW_SPAN_BETWEEN_NODES : TW_SPAN_WITHIN_NODE;
}

}  // namespace

std::uint64_t rules_by_name(MPI_Comm comm) {
  if (process().settings.policy == nullptr) return 0;
  int ranks = 0, length = 0;
  real().Comm_size(comm, &ranks);
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  const bool known = real().Comm_get_name(comm, name, &length) == MPI_SUCCESS && length > 0;
  return tw_policy_rules(process().settings.policy, known ? name : nullptr,
                         static_cast<std::uint32_t>(ranks));
}

Choice choose_for_message(MPI_Comm comm, const TypeFacts& type, std::uint64_t bytes,
                          std::uint32_t place) {
  const std::uint64_t rules = rules_by_name(comm);
  return choice_of(match({sizeof(tw_policy_call), TW_POLICY_SEND, dtype_for_rules(type),
                          span_to(place), bytes, rules}));
}

Choice choose_for_collective(std::uint64_t rules, std::uint32_t operation, std::uint32_t dtype,
                             std::uint64_t bytes, bool within_node) {
  const std::uint32_t span = within_node ? TW_SPAN_WITHIN_NODE : TW_SPAN_BETWEEN_NODES;
  const int rule = match({sizeof(tw_policy_call), operation, dtype, span, bytes, rules});
  return rule < -1 ? Choice{} : choice_of(rule);
}

namespace {

std::uint64_t nanoseconds(double seconds) { return static_cast<std::uint64_t>(1e9 * seconds); }

void name_receiver(const Peer& peer, Attempt& attempt) {
  attempt.place = peer.place;
  attempt.world_rank = peer.world_rank;
  attempt.is_known = peer.known;
}

// The results of a lossy codec must not depend on the time that attempts take.
std::uint32_t most_skips(const Chosen& chosen, double seconds) {
  const CodecUse& use = *chosen.attempt.use;
  if (use.is_lossy || use.plan.force != 0) return choose::kLongestSearch;
  return choose::Backoff::most_skips(seconds, chosen.decision.raw_seconds);
}

// True if the frame is to be sent.
bool learn_of_frame(const Tried& tried, double seconds, Chosen& chosen) {
  const Attempt& attempt = chosen.attempt;
  chosen.channel->succeeded();
  note_frame(chosen.decision.turn);
  return attempted(chosen.decision, attempt.message, *attempt.use, chosen.type, attempt.bytes,
                   chosen.peer, seconds, tried.wire_bytes);
}

void complete_raw(tw_reason reason, Chosen& chosen) {
  Attempt& attempt = chosen.attempt;
  attempt.reason = reason;
  attempt.logged = reason == chosen.decision.reason ? timed_reason(chosen.decision)
                                                    : static_cast<NativeReason>(reason);
  attempt.raw_nanoseconds = nanoseconds(chosen.told.raw_seconds);
  attempt.whole_nanoseconds = attempt.raw_nanoseconds + attempt.encode_nanoseconds;
  note_sent(attempt.place, attempt.bytes, true);
}

void complete_frame(const Tried& tried, double seconds, Chosen& chosen) {
  Attempt& attempt = chosen.attempt;
  const Decision& told = chosen.told;
  attempt.wire_bytes = tried.wire_bytes;
  attempt.planned_encode_nanoseconds = nanoseconds(chosen.decision.encode_seconds);
  // By now its size is known, which was only hoped for.
  attempt.predicted_nanoseconds = nanoseconds(predicted_seconds(
      told, static_cast<double>(attempt.bytes) / static_cast<double>(tried.wire_bytes)));
  note_sent(attempt.place, tried.wire_bytes, false);
  if (told.raw_seconds <= 0) return;
  const double took = took_seconds(told, seconds, attempt.bytes, tried.wire_bytes);
  attempt.saved_nanoseconds = saved_nanoseconds(chosen.decision, told.raw_seconds, took);
  attempt.whole_nanoseconds = nanoseconds(took);
  // The trace and the report have the same times.
  const std::int64_t raw =
      static_cast<std::int64_t>(attempt.whole_nanoseconds) + attempt.saved_nanoseconds;
  attempt.raw_nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(raw, 1));
}

}  // namespace

std::optional<Chosen> choose_for(const Outgoing& message) {
  if (is_null_buffer(message.buffer, message.type)) return std::nullopt;
  Chosen chosen;
  Attempt& attempt = chosen.attempt;
  attempt.message = message;
  attempt.bytes = message_bytes(message.count, message.type);
  chosen.type = type_facts(message.type);
  chosen.peer = peer_of(message.comm, message.destination);
  name_receiver(chosen.peer, attempt);
  const Choice choice =
      choose_for_message(message.comm, chosen.type, attempt.bytes, chosen.peer.place);
  attempt.use = choice.use;
  attempt.rule = choice.rule;
  if (attempt.bytes % leaf_bytes(choice.holds) == 0 && choice.holds != TW_BYTES) {
    chosen.type.leaf = choice.holds;
  }
  attempt.dtype = chosen.type.leaf;
  const Decision& decision = chosen.decision =
      decide(message, *choice.use, chosen.type, attempt.bytes, chosen.peer);
  chosen.told = as_told(decision, attempt.bytes, chosen.peer.place);
  attempt.planned = {decision.raw_seconds, decision.seconds, decision.least_ratio, decision.link};
  attempt.reason = decision.reason;
  if (decision.reason != TW_COMPRESS) return chosen;
  if (!is_usable(message.type)) return std::nullopt;
  chosen.channel = &chosen.peer.channels->of(chosen.type.leaf, choice.use->number);
  chosen.effort = chosen.channel->next(decision.least_ratio);
  if (chosen.effort == choose::Effort::kSkip) attempt.reason = TW_RAW_DECLINED_LATELY;
  return chosen;
}

void learn(const Tried& tried, Chosen& chosen) {
  Attempt& attempt = chosen.attempt;
  attempt.encode_nanoseconds = tried.nanoseconds;
  const double seconds = 1e-9 * static_cast<double>(tried.nanoseconds);
  if (attempt.reason != TW_COMPRESS) return complete_raw(attempt.reason, chosen);
  if (tried.reason == TW_RAW_DECLINED || tried.reason == TW_RAW_INTEGERS) {
    const double asked = tried.reason == TW_RAW_DECLINED ? chosen.decision.least_ratio : 1;
    chosen.channel->declined(asked, most_skips(chosen, seconds));
  }
  if (tried.reason != TW_COMPRESS) return complete_raw(tried.reason, chosen);
  if (!learn_of_frame(tried, seconds, chosen)) return complete_raw(TW_RAW_LINK_FASTER, chosen);
  complete_frame(tried, seconds, chosen);
}

Attempt left_by_mode(const Outgoing& message) {
  Attempt attempt;
  attempt.message = message;
  attempt.bytes = message_bytes(message.count, message.type);
  attempt.use = &process().settings.codecs.front();
  attempt.reason = TW_RAW_MODE;
  if (wants_receiver()) name_receiver(peer_of(message.comm, message.destination), attempt);
  return attempt;
}

}  // namespace thinwire::mpi
