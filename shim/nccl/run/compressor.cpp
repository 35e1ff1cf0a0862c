#include "run/compressor.h"

#include "base/dtype.h"
#include "native/cuda.h"
#include "native/refused.h"
#include "run/device.h"
#include "run/plans.h"
#include "run/transport.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// It may be another rank's veto, and is what came over a socket.
int reason_of(const agree::Value& value) {
  if (value.reason == agree::kNotSmaller) return kNotSmaller;
  if (value.reason == agree::kUnreachable) return kPairUnreachable;
  return value.reason > 0 && value.reason < kReasons ? int{value.reason} : int{kNotAgreed};
}

// Whether results of such calls may differ from raw ones, wherever the communicator's ranks are.
bool may_lose(const Choice& choice) {
  const auto loses = [&](Side side) {
    return choice.reason[side] == 0 && !settings().codecs[choice.codec[side]].lossless;
  };
  return loses(kWithinNode) || loses(kBetweenNodes);
}

}  // namespace

Compressor::Compressor(ncclComm_t comm, agree::CommunicatorRef agreed, int rank, int ranks,
                       bool blocks, Joins joins)
    : agreed_(std::move(agreed)),
      rank_(rank),
      ranks_(ranks),
      device_(device_of(comm)),
      blocks_(blocks),
      joins_(joins),
      comm_(comm),
      unable_(prepared(device_)),
      collectives_(agreed_->collectives()) {}

void Compressor::know_nodes() {
  if (knows_nodes_) return;
  hosts_ = RankNodes(agreed_->nodes());
  if (!settings().same_node) nodes_ = hosts_;
  const std::lock_guard lock(mutex_);
  knows_nodes_ = true;
  if (ended_ || unable_ != TW_OK) return;
  const tw_stream_transport table = transport_over(comm_, rank_, ranks_);
  tw_stream_comm_options options{};
  options.size = sizeof options;
  options.codec = settings().codecs.front().codec;  // plans name their own
  options.nodes = nodes_.data();
  unable_ = tw_stream_comm_create(&table, &options, &stream_comm_);
}

bool Compressor::stays_inside(const Call& call) const {
  return nodes_.are_one() || (call.is_message() && nodes_.are_together(rank_, call.peer));
}

Side Compressor::side_of(const Call& call) const {
  const bool within = call.is_message() ? hosts_.are_together(rank_, call.peer) : hosts_.are_one();
  return within ? kWithinNode : kBetweenNodes;
}

// A compressed sum over more than two ranks has another order of additions than NCCL's own.
bool Compressor::is_joined(const Call& call) const {
  if (joins_ == Joins::kNothing) return false;
  const bool differs =
      joins_ == Joins::kSumsToo && call.reduces() && ranks_ > 2 && !call.is_ordered;
  return differs || may_lose(call.choice);
}

int Compressor::take_choice(Side side, const Choice& choice, PlanKey& key, Decision& made) const {
  made.rule = choice.rule[side];
  made.codec = key.codec = choice.codec[side];
  return choice.reason[side];
}

Decision Compressor::decide(const Call& call, bool is_grouped, bool may_refer) {
  Decision made;
  made.call_number = number_of(call);
  made.number = made.call_number.number << 1 | (call.is_message() ? 1 : 0);
  made.rule = call.choice.only_rule();
  const bool is_decided = allowed([&] {
    if (call.is_message()) {
      decide_message(call, made);
    } else if (call.is_ordered) {
      decide_in_order(call, is_grouped, made);
    } else {
      decide_collective(call, is_grouped, may_refer, made);
    }
  });
  if (!is_decided) decide_without_memory(call, made);
  return made;
}

// A sample encode can be left out. If other ranks may code the call this one must not make it
// raw, nor leave one to NCCL that they add in their order.
void Compressor::decide_without_memory(const Call& call, Decision& made) {
  for (Plan* const plan : {made.plan, made.result_sample}) {
    if (plan != nullptr) plan->users.fetch_sub(1);
  }
  made.plan = made.result_sample = nullptr;
  made.turn.reset();
  if (made.reason == 0) made.reason = TW_RAW_NO_MEMORY;
  if ((made.is_raw && !call.is_ordered) || !may_code()) return;
  made.failure = ncclSystemError;
  set_error(made.failure);
}

std::optional<agree::Value> Compressor::value_of(Kind& of, Decision& made) {
  if (of.owes_offer()) [[unlikely]] {
    allowed([&] {
      const std::lock_guard lock(mutex_);
      if (of.owes_offer()) of.offer();
    });
  }
  const agree::Answer answer = of.value(made.call_number.number);
  if (answer.outcome == agree::Outcome::kKnown) return answer.value;
  const bool aborted = answer.outcome == agree::Outcome::kAborted;
  made.failure = aborted ? ncclInvalidUsage : ncclRemoteError;
  set_error(made.failure);
  return std::nullopt;
}

void Compressor::decide_collective(const Call& call, bool is_grouped, bool may_refer,
                                   Decision& made) {
  PlanKey key = plan_key(call, ranks_, is_grouped || !blocks_);
  made.dtype = key.dtype;
  const int exchanges = key.way == TW_STREAM_DIRECT ? 2 : 1;
  const std::uint64_t joined = is_joined(call) ? agree::kJoined : 0;
  agree::Value raw, first;
  bool coded = true;
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    const bool guarded = exchange == 0 && !settings().force;
    const std::uint64_t name = kind_key(call, key, static_cast<unsigned>(exchange));
    Kind& of = made.call_number.track->of(name | joined, guarded);
    made.of[exchange] = &of;
    const std::optional<agree::Value> value = value_of(of, made);
    if (!value) return;
    key.capacity[exchange] = value->capacity;
    if (exchange == 0) first = *value;
    if (coded && value->capacity == 0) {
      coded = false;
      raw = *value;
    }
  }
  // All ranks have agreed on what is coded.
  if (coded) know_nodes();
  if (coded) note_left_to_nccl(call, made);
  if (coded) made.reason = take_choice(side_of(call), call.choice, key, made);
  if (made.reason != 0) return;
  if (coded && call.is_captured()) make_room_in_graph(key);
  // A raw sum in order has the same exchanges.
  if (coded && !call.is_ordered &&
      !brings_less(key, nodes_.levels() > 0 ? nodes_.levels() : ranks_)) {
    coded = false;
    raw.reason = agree::kNotSmaller;
  }
  if (!coded) return decide_raw(call, key, raw, made);
  const bool is_raw = call.is_captured() ? captured_goes_raw(first, made) : goes_raw(first, made);
  if (made.turn && made.turn->begins) look_for_room_again(call, key, made);
  if (is_raw) return;
  if (may_refer) key.reference_bytes = reference_bytes_of(call, made.codec);
  take_plan(call, key, made);
}

void Compressor::take_plan(const Call& call, const PlanKey& key, Decision& made) {
  tw_status why = TW_OK;
  made.plan = plans_.take(stream_comm_, key, &why);
  if (made.plan != nullptr) return;
  made.reason = reason_without_plan(call.reduces(), why);
  if (is_of_memory(why)) made.failure = ncclSystemError;
}

void Compressor::decide_raw(const Call& call, PlanKey key, agree::Value value, Decision& made) {
  made.is_raw = true;
  const bool undecided = value.reason == agree::kUndecided;
  made.reason = reason_of(value);
  if (is_left_to_nccl(call, made)) return;
  if (call.is_captured()) {
    // A sample encode would be one at every replay.
    if (undecided) made.reason = kCaptured;
    return;
  }
  const bool is_short = value.reason == TW_RAW_NO_MEMORY || value.reason == kNoThread;
  const bool is_back = made.of[0]->is_back() && !is_short;
  if (!undecided && value.reason != agree::kNotSmaller && !is_short && !is_back) return;
  if (state_ == agree::State::kForming) state_ = agreed_->membership().state;
  if (state_ == agree::State::kForming) made.reason = kNotKnownYet;
  if (state_ == agree::State::kRaw) made.reason = TW_RAW_PEER_NOT_READY;
  if (state_ == agree::State::kReady) {
    know_nodes();
    if (stays_inside(call)) {
      made.reason = TW_RAW_SAME_NODE;
      made.rule = call.choice.rule[side_of(call)];
      return;
    }
    if (const int reason = take_choice(side_of(call), call.choice, key, made); reason != 0) {
      made.reason = reason;
      return;
    }
  }
  if (state_ != agree::State::kReady) return;
  if (made.of[0]->is_joined() && !agreed_->knows_siblings()) {
    made.reason = kSiblingsUnknown;
    return;
  }
  // If types take turns, some messages would be spilled at once, and the kind raw again.
  const bool takes_any = undecided && settings().codecs[made.codec].lossless;
  if (!is_short && !takes_any && !made.of[0]->is_of_one_type()) return;
  const bool tries =
      is_short ? looks_for_memory(made) : is_back || made.of[0]->wants_sample(value.reason);
  if (!tries || !reserve(call, key, made)) return;
  if (!call.reads(rank_)) {
    const std::lock_guard lock(mutex_);
    made.of[0]->measured(0, false);
    return;
  }
  made.again = !undecided;
  key.capacity[0] = key.capacity[1] = 512;
  tw_status why = TW_OK;
  key.flags = TW_STREAM_TRIAL;
  made.plan = plans_.take(stream_comm_, key, &why);
  if (made.plan == nullptr || made.of[1] == nullptr) return;
  if (!call.writes(rank_)) {
    // The root tries what this rank would have of the result.
    const std::lock_guard lock(mutex_);
    made.of[1]->measured(0, false);
    return;
  }
  key.flags = TW_STREAM_TRIAL_RESULT;
  made.result_sample = plans_.take(stream_comm_, key, &why);
}

bool Compressor::keeps_results(const Call& call) {
  return call.does(kToAll) && settings().references > 0 && !call.is_captured();
}

std::uint64_t Compressor::reference_bytes_of(const Call& call, unsigned codec) {
  return keeps_results(call) && settings().codecs[codec].lossless ? settings().references : 0;
}

}  // namespace thinwire::nccl
