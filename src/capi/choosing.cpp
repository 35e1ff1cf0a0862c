#include <bit>

#include "capi/boundary.h"
#include "capi/handles.h"
#include "choose/backoff.h"
#include "choose/call_kind.h"
#include "thinwire/thinwire.h"

using namespace thinwire;

struct tw_chooser {
  choose::CallKind kind;
};

namespace {

using choose::Backoff;
static_assert(sizeof(Backoff) == sizeof(tw_retry));

// Its first calls, by which it may be given up, are the fewest.
bool is_of_round(std::uint32_t calls) {
  return calls >= choose::kTimedFirst && choose::are_alone(calls);
}

bool are_seconds(const tw_chooser_facts& facts) {
  return facts.raw_seconds >= 0 && facts.compressed_seconds >= 0;
}

// All bits are a state; those of a new one are all 0.
Backoff retry_of(const tw_retry& retry) { return std::bit_cast<Backoff>(retry); }

}  // namespace

tw_status tw_chooser_create(const tw_chooser_options* options, tw_chooser** chooser) {
  return capi::guarded([&] {
    tw_chooser_options none{};
    none.size = sizeof none;
    const capi::Taken<tw_chooser_options> own(options == nullptr ? &none : options);
    if (chooser == nullptr || !own || (own->calls != 0 && !is_of_round(own->calls))) {
      return capi::misuse(
          "tw_chooser_create: null pointer, a size or field that is not known, or calls of a "
          "timing round that are not 2, 4 or 8");
    }
    const choose::KindOptions kind{.once = own->once != 0,
                                   .begins_coded = own->begins_compressed != 0,
                                   .is_timing_free = own->free_timing != 0,
                                   .calls = own->calls == 0 ? choose::kTimedAlone : own->calls};
    *chooser = capi::Shells<tw_chooser>::make(choose::CallKind(kind)).release();
    return TW_OK;
  });
}

void tw_chooser_destroy(tw_chooser* chooser) {
  capi::close_handle(chooser, "tw_chooser_destroy: the chooser is destroyed already");
}

tw_status tw_chooser_next(tw_chooser* chooser, const tw_chooser_facts* facts,
                          tw_chooser_turn* turn) {
  const capi::Taken<tw_chooser_facts> own(facts);
  if (!capi::is_open(chooser) || !own || !capi::has_size(turn) || !are_seconds(*own)) {
    return capi::misuse(
        "tw_chooser_next: null pointer, destroyed chooser, a size or field that is not known, or "
        "seconds below 0");
  }
  if (chooser->kind.is_due()) {
    return capi::misuse("tw_chooser_next: the ranks have to agree first: tw_chooser_adopt()");
  }
  const choose::CallTurn next =
      chooser->kind.next({own->raw_seconds, own->compressed_seconds, own->pays != 0});
  capi::Filled<tw_chooser_turn> filled(turn);
  filled->compressed = next.is_coded ? 1 : 0;
  filled->timed = next.is_timed ? 1 : 0;
  filled->in_round = next.is_in_round ? 1 : 0;
  return TW_OK;
}

tw_status tw_chooser_took(tw_chooser* chooser, int compressed, uint64_t nanoseconds) {
  if (!capi::is_open(chooser)) {
    return capi::misuse("tw_chooser_took: null pointer or destroyed chooser");
  }
  chooser->kind.took(compressed != 0, nanoseconds);
  return TW_OK;
}

tw_status tw_chooser_own(const tw_chooser* chooser, tw_chooser_times* times) {
  if (!capi::is_open(chooser) || !capi::has_size(times)) {
    return capi::misuse("tw_chooser_own: null pointer, destroyed chooser or size of no struct");
  }
  const choose::RoundTimes own = chooser->kind.own();
  capi::Filled<tw_chooser_times> filled(times);
  filled->reserved = 0;
  filled->raw = own.raw;
  filled->compressed = own.coded;
  filled->raw_mean = own.raw_mean;
  filled->compressed_mean = own.coded_mean;
  return TW_OK;
}

tw_status tw_chooser_adopt(tw_chooser* chooser, const tw_chooser_times* largest) {
  const capi::Taken<tw_chooser_times> own(largest);
  if (!capi::is_open(chooser) || !own || !chooser->kind.is_due()) {
    return capi::misuse(
        "tw_chooser_adopt: null pointer, destroyed chooser, a size or field that is not known, or "
        "nothing is due");
  }
  chooser->kind.adopt({own->raw, own->compressed, own->raw_mean, own->compressed_mean});
  return TW_OK;
}

tw_status tw_chooser_describe(const tw_chooser* chooser, tw_chooser_state* state) {
  if (!capi::is_open(chooser) || !capi::has_size(state)) {
    return capi::misuse(
        "tw_chooser_describe: null pointer, destroyed chooser or size of no struct");
  }
  const choose::CallKind& kind = chooser->kind;
  capi::Filled<tw_chooser_state> filled(state);
  filled->due = kind.is_due() ? 1 : 0;
  filled->rounds = kind.rounds();
  filled->compressed = kind.codes() ? 1 : 0;
  return TW_OK;
}

int tw_retry_next(tw_retry* retry) {
  if (retry == nullptr) return 1;
  Backoff next = retry_of(*retry);
  const bool tries = next.next() != choose::Effort::kSkip;
  *retry = std::bit_cast<tw_retry>(next);
  return tries ? 1 : 0;
}

void tw_retry_tell(tw_retry* retry, int succeeded) {
  if (retry == nullptr) return;
  Backoff next = retry_of(*retry);
  succeeded != 0 ? next.succeeded() : next.declined();
  *retry = std::bit_cast<tw_retry>(next);
}
