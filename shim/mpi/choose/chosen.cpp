#include "shim/mpi/choose/chosen.h"

#include <algorithm>

#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/choose/policy.h"
#include "shim/mpi/native/message_bytes.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
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
