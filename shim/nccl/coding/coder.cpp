#include "coding/coder.h"

#include <bit>

#include "abi/cuda.h"
#include "coding/device.h"
#include "coding/keys.h"
#include "coding/service.h"
#include "coding/transport.h"
#include "process/reason.h"
#include "process/settings.h"

namespace thinwire::nccl {
namespace {

constexpr std::uint64_t kNoGroup = 0;
constexpr std::uint64_t kTimeBytes = 64;  // a time before a call, and one behind it
// Calls between two of a class, whose ends are noted: those of a step of training, about.
constexpr std::uint32_t kListened = 64;

int reason_without_plan(const Call& call, tw_status why) {
  return why == TW_UNSUPPORTED && call.reduces() ? TW_RAW_OPERATION : TW_RAW_SHAPE;
}

// It may be another rank's veto, and is what came over a socket.
int reason_of(const agree::Value& value) {
  if (value.reason == agree::kNotSmaller) return kNotSmaller;
  return value.reason > 0 && value.reason < kReasons ? int{value.reason} : int{kNotAgreed};
}

bool is_of_memory(tw_status why) { return why != TW_UNSUPPORTED && why != TW_INVALID_ARGUMENT; }

}  // namespace

Coder::Coder(ncclComm_t comm, agree::CommunicatorRef agreed, int rank, int ranks, bool blocks)
    : agreed_(std::move(agreed)),
      rank_(rank),
      ranks_(ranks),
      device_(device_of(comm)),
      blocks_(blocks),
      comm_(comm),
      unable_(prepared(device_)),
      collectives_(agreed_->collectives()) {}

void Coder::know_nodes() {
  if (knows_nodes_) return;
  knows_nodes_ = true;
  hosts_ = RankNodes(agreed_->nodes());
  if (!settings().same_node) nodes_ = hosts_;
  const std::lock_guard lock(mutex_);
  if (ended_ || unable_ != TW_OK) return;
  const tw_stream_transport table = transport_over(comm_, rank_, ranks_);
  tw_stream_comm_options options{};
  options.size = sizeof options;
  options.codec = settings().codecs.front().codec;  // plans name their own
  options.nodes = nodes_.data();
  unable_ = tw_stream_comm_create(&table, &options, &stream_comm_);
}

bool Coder::stays_inside(const Call& call) const {
  return nodes_.are_one() || (call.is_message() && nodes_.are_together(rank_, call.peer));
}

Side Coder::side_of(const Call& call) const {
  const bool within = call.is_message() ? hosts_.are_together(rank_, call.peer) : hosts_.are_one();
  return within ? kWithinNode : kBetweenNodes;
}

int Coder::take_choice(const Call& call, PlanKey& key, Decision& made) const {
  const Side side = side_of(call);
  made.rule = call.choice.rule[side];
  made.codec = key.codec = call.choice.codec[side];
  return call.choice.reason[side];
}

Track& Coder::track_of(const Call& call) {
  if (!call.is_message()) return collectives_;
  const bool outgoing = call.operation == kSend;
  const auto found = messages_.find({call.peer, outgoing});
  if (found != messages_.end()) return found->second;
  agree::Channel& channel = outgoing ? agreed_->to(call.peer) : agreed_->from(call.peer);
  return messages_.try_emplace({call.peer, outgoing}, channel).first->second;
}

Decision Coder::decide(const Call& call, bool is_grouped) {
  PlanKey key = plan_key(call, ranks_, is_grouped || !blocks_);
  Track& track = track_of(call);
  const std::uint64_t number = track.next();
  const int exchanges = key.way == TW_STREAM_DIRECT ? 2 : 1;
  Decision made;
  made.number = number << 1 | (call.is_message() ? 1 : 0);
  made.rule = call.choice.only_rule();
  made.track = &track;
  agree::Value raw, first;
  bool coded = true;
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    const bool guarded = exchange == 0 && !settings().force;
    Class& of = track.of(class_key(call, key, static_cast<unsigned>(exchange)), guarded);
    made.of[exchange] = &of;
    const agree::Answer answer = of.value(number);
    if (answer.outcome != agree::Outcome::kKnown) {
      const bool aborted = answer.outcome == agree::Outcome::kAborted;
      made.failure = aborted ? ncclInvalidUsage : ncclRemoteError;
      set_error(made.failure);
      return made;
    }
    key.capacity[exchange] = answer.value.capacity;
    if (exchange == 0) first = answer.value;
    if (coded && answer.value.capacity == 0) {
      coded = false;
      raw = answer.value;
    }
  }
  // What is coded all ranks have agreed on.
  if (coded) know_nodes();
  if (coded) made.reason = take_choice(call, key, made);
  if (made.reason != 0) return made;
  const bool levels = nodes_.levels() > 0 && !call.factor;
  if (coded && !brings_less(key, levels ? nodes_.levels() : ranks_)) {
    coded = false;
    raw.reason = agree::kNotSmaller;
  }
  if (!coded) {
    decide_raw(call, key, raw, made);
    return made;
  }
  if (call.is_captured() ? captured_goes_raw(first, made) : goes_raw(first, made)) return made;
  tw_status why = TW_OK;
  made.plan = plans_.take(stream_comm_, key, &why);
  if (made.plan == nullptr) {
    made.reason = reason_without_plan(call, why);
    if (is_of_memory(why)) made.failure = ncclSystemError;
  }
  return made;
}

bool Coder::captured_goes_raw(const agree::Value& value, Decision& made) const {
  // A capacity that cannot follow the data would spill at every replay of data that has changed.
  const bool fits = settings().codecs[made.codec].has_fixed_size();
  const bool is_timed = value.decided == 0 && value.probation != 0;
  if (!fits || is_timed) made.reason = kCaptured;
  if (made.reason == 0 && !value.codes) made.reason = kNotFaster;
  return made.reason != 0;
}

bool Coder::goes_raw(const agree::Value& value, Decision& made) {
  made.turn = made.of[0]->turn(value, !settings().codecs[made.codec].lossless);
  if (made.turn->asks) {
    const std::lock_guard lock(mutex_);
    made.of[0]->ask(value.probation);
  }
  if (made.turn->is_before_timed) {
    listens_ = kListened;
  } else if (made.is_timed()) {
    listens_ = 0;
  }
  if (made.turn->codes) return false;
  made.reason = value.probation > value.decided ? kBeingTimed : kNotFaster;
  return true;
}

void Coder::decide_raw(const Call& call, PlanKey key, agree::Value value, Decision& made) {
  const bool undecided = value.reason == agree::kUndecided;
  made.reason = reason_of(value);
  if (call.is_captured()) {
    // A trial would be one at every replay.
    if (undecided) made.reason = kCaptured;
    return;
  }
  if (!undecided && value.reason != agree::kNotSmaller) return;
  if (state_ == agree::State::kForming) state_ = agreed_->presence().state;
  if (state_ == agree::State::kForming) made.reason = kNotKnownYet;
  if (state_ == agree::State::kRaw) made.reason = TW_RAW_PEER_NOT_READY;
  if (state_ == agree::State::kReady) {
    know_nodes();
    if (stays_inside(call)) {
      made.reason = TW_RAW_SAME_NODE;
      made.rule = call.choice.rule[side_of(call)];
      return;
    }
    if (const int reason = take_choice(call, key, made); reason != 0) {
      made.reason = reason;
      return;
    }
  }
  if (state_ != agree::State::kReady || !made.of[0]->wants_trial(value.reason)) return;
  if (!reserve(call, key, made)) return;
  if (!call.reads(rank_)) {
    const std::lock_guard lock(mutex_);
    // The receiver of a message has nothing to offer.
    if (call.operation != kRecv) made.of[0]->measured(0, false);
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
  made.result_trial = plans_.take(stream_comm_, key, &why);
}

// The memory of the largest call of the class, before the ranks agree to code it; else a veto.
bool Coder::reserve(const Call& call, PlanKey key, const Decision& made) {
  int veto = 0;
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return false;
  if (unable_ != TW_OK) veto = TW_RAW_NO_MEMORY;
  if (veto == 0) {
    const std::uint64_t size = element_bytes(call.type);
    key.count = (std::bit_ceil(call.elements * size + 1) - 1) / size;
    key.capacity[0] = key.capacity[1] = 512;
    tw_status why = TW_OK;
    Plan* const plan = plans_.take(stream_comm_, key, &why);
    if (plan != nullptr) {
      Lent& lent = lent_to(call.stream, kNoGroup);
      if (!lent.reserve(plan->info) || open_mailbox(lent) == nullptr) {
        veto = TW_RAW_NO_MEMORY;
      }
      plan->users.fetch_sub(1);
    } else {
      veto = is_of_memory(why) ? TW_RAW_NO_MEMORY : reason_without_plan(call, why);
    }
  }
  if (veto == 0) return true;
  for (Class* const of : made.of) {
    if (of != nullptr) of->veto(static_cast<std::uint16_t>(veto));
  }
  return false;
}

Lent& Coder::lent_to(cudaStream_t stream, std::uint64_t group) {
  const std::uint64_t identity = identity_of(stream);
  for (const auto& each : lent_) {
    if (!each->is_of_graph && each->stream == identity) return *each;
  }
  // Programs may make streams as they go.
  for (const auto& each : lent_) {
    if (each->is_of_graph || !each->idle() || each->group == group) continue;
    each->stream = identity;
    return *each;
  }
  Lent& added = add_lent();
  added.stream = identity;
  return added;
}

Lent& Coder::add_lent() {
  const std::lock_guard lock(lent_mutex_);
  lent_.push_back(std::make_unique<Lent>(device_));
  return *lent_.back();
}

// Calls on one stream follow each other in a graph as they do without, so they may share memory.
Lent* Coder::lent_to_graph(const Call& call) {
  const std::uint64_t handle = reinterpret_cast<std::uintptr_t>(call.stream);
  Lent* idle = nullptr;
  for (const auto& each : lent_) {
    if (!each->is_of_graph) continue;
    if (each->capture == call.capture.id && each->stream == handle) return each.get();
    if (each->capture == 0) idle = each.get();
  }
  if (idle == nullptr) {
    idle = &add_lent();
    idle->is_of_graph = true;
  }
  idle->graph_has_ended = false;
  const auto release = [](void* lent) { static_cast<Lent*>(lent)->graph_has_ended = true; };
  if (!keep_with_graph(call.capture, release, idle)) return nullptr;
  idle->stream = handle;
  idle->capture = call.capture.id;
  return idle;
}

void* Coder::open_mailbox(Lent& lent) {
  if (void* const there = lent.mailbox()) return there;
  const std::lock_guard lock(lent_mutex_);
  void* const mailbox = lent.open_mailbox();
  if (aborted_) tw_mailbox_abort(mailbox);
  return mailbox;
}

Flight* Coder::prepare(const Call& call, const Decision& decision, Part part, std::uint64_t group,
                       Counters* counters, tw_stream_call* made) {
  Plan* const plan = part == Part::kResultTrial ? decision.result_trial : decision.plan;
  if (failed_ || ended_) {
    plan->users.fetch_sub(1);
    return nullptr;
  }
  Lent* const found = call.is_captured() ? lent_to_graph(call) : &lent_to(call.stream, group);
  if (found == nullptr) {
    plan->users.fetch_sub(1);
    return nullptr;
  }
  Lent& lent = *found;
  if (lent.group != group) {
    lent.group = group;
    lent.places = 0;
  }
  const tw_stream_plan_info& needs = plan->info;
  *made = {};
  made->size = sizeof *made;
  void* const mailbox = needs.needs_mailbox == 0 ? nullptr : open_mailbox(lent);
  const bool lacks = needs.needs_mailbox != 0 && mailbox == nullptr;
  Flight* const flight = lacks ? nullptr : flights_.take(needs.record_bytes);
  if (flight == nullptr || (needs.device_bytes != 0 && !lent.lend(lent.places++, needs, made))) {
    if (flight != nullptr) flights_.give_back(flight);
    plan->users.fetch_sub(1);
    return nullptr;
  }
  flight->plan = plan;
  flight->of[0] = part == Part::kResultTrial ? nullptr : decision.of[0];
  flight->of[1] = part == Part::kTrial ? nullptr : decision.of[1];
  flight->is_trial = part != Part::kCall;
  flight->again = decision.again;
  flight->sizes_follow_error = settings().codecs[decision.codec].sizes_follow_error;
  flight->counters = counters;
  flight->number = decision.number;
  flight->is_receive = call.operation == kRecv;
  // What replays need is not looked at: their capacity stays as it is.
  if (call.is_captured()) flight->of[0] = flight->of[1] = nullptr;
  made->plan = plan->handle;
  made->number = decision.number;
  made->send = call.send;
  made->receive = call.receive;
  made->mailbox = mailbox;
  made->record = flight->record;
  made->stream = call.stream;
  if (call.factor) {
    made->factor = call.factor->number;
    made->factor_at = call.factor->at;
  }
  lent.push(flight);
  return flight;
}

Flight* Coder::begin_time(const Call& call, const Decision& decision) {
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return nullptr;
  Flight* const clock = flights_.take(kTimeBytes);
  if (clock == nullptr) {
    decision.of[0]->timed(*decision.turn, 0);
    return nullptr;
  }
  clock->plan = nullptr;
  clock->of[0] = decision.of[0];
  clock->turn = *decision.turn;
  auto* const times = static_cast<std::uint64_t*>(clock->record);
  times[0] = times[1] = 0;
  look_after(*this);
  if (tw_stream_time(stream_comm_, device_, times, call.stream) == TW_OK) {
    clock->behind = last_end_;
    if (last_end_ != nullptr) ++last_end_->holders;
    return clock;
  }
  flights_.give_back(clock);
  decision.of[0]->timed(*decision.turn, 0);
  return nullptr;
}

void Coder::end_time(const Call& call, Flight* clock) {
  if (clock == nullptr) return;
  const std::lock_guard lock(mutex_);
  auto* const times = static_cast<std::uint64_t*>(clock->record);
  // Else it is lost: the stream may still write what was put there before.
  if (tw_stream_time(stream_comm_, device_, times + 1, call.stream) != TW_OK) return;
  keep_end(call, clock);
}

void Coder::note_end(const Call& call) {
  if (!listens()) return;
  --listens_;
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return;
  Flight* const clock = flights_.take(kTimeBytes);
  if (clock == nullptr) return;
  clock->plan = nullptr;
  clock->of[0] = nullptr;
  auto* const times = static_cast<std::uint64_t*>(clock->record);
  times[0] = times[1] = 0;
  look_after(*this);
  if (tw_stream_time(stream_comm_, device_, times + 1, call.stream) == TW_OK) {
    keep_end(call, clock);
  } else {
    flights_.give_back(clock);
  }
}

void Coder::keep_end(const Call& call, Flight* clock) {
  lent_to(call.stream, kNoGroup).push(clock);
  ++clock->holders;
  if (last_end_ != nullptr) flights_.give_back(last_end_);
  last_end_ = clock;
}

void Coder::fail() { failed_ = true; }

void Coder::abort() {
  agreed_->abort();
  abort_mailboxes();
}

void Coder::revoke() {
  agreed_->revoke();
  abort_mailboxes();
}

void Coder::abort_mailboxes() {
  const std::lock_guard lock(lent_mutex_);
  aborted_ = true;
  for (const auto& each : lent_) tw_mailbox_abort(each->mailbox());
}

}  // namespace thinwire::nccl
