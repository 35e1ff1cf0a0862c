#include "entry/submit.h"
#include "members/membership.h"

#include <bit>

#include "entry/counting.h"
#include "entry/group.h"
#include "entry/ordering.h"
#include "entry/windows.h"
#include "native/call_native.h"
#include "native/cuda.h"
#include "run/call.h"
#include "run/device.h"
#include "run/messages.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// The policy's choice, and why it cannot be: of either side, or of both the one between nodes.
int choose_codec(Call& call, const Communicator& communicator) {
  const std::uint64_t bytes = bytes_judged(call, communicator);
  const std::uint32_t dtype = dtype_of(call.type);
  call.rules = communicator.rules;
  call.choice = choose(call.operation, dtype, bytes, call.rules);
  for (const Side side : {kWithinNode, kBetweenNodes}) {
    const CodecUse& use = settings().codecs[call.choice.codec[side]];
    const int reason = call.reduces() ? reason_for_sum(use, dtype, call.sums(), bytes)
                                      : reason_for(use, dtype, bytes);
    call.choice.reason[side] = reason == kNotBuilt ? 0 : reason;
  }
  const auto& reasons = call.choice.reason;
  if (reasons[kWithinNode] == 0 || reasons[kBetweenNodes] == 0) return kNotBuilt;
  return reasons[kBetweenNodes];
}

// From the arguments and settings alone, so that it is the same on all ranks. What the other end of
// a message may know by another type is left to what the two have agreed on.
int reason_by_arguments(Call& call, const Communicator& communicator) {
  const int reason = choose_codec(call, communicator);
  if (streams() == Streams::kNone) return reason;
  await_side(call, communicator);
  if (wants_order(call, communicator)) return reason_in_order(call, reason, communicator);
  if (reason == kNotBuilt && call.config != nullptr && !asks_nothing(*call.config))
    return kConfigured;
  if (reason != kNotBuilt) {
    if (!call.is_message() || !could_be_coded(call)) return reason;
    call.raw_as_called = reason;
  }
  const bool is_own = call.is_message() && call.peer == communicator.rank;
  if (communicator.ranks <= 1 || is_own) return reason != kNotBuilt ? reason : int{kAlone};
  // All ranks capture a call, or none.
  call.capture = capture_of(call.stream);
  return call.capture.state == Capture::State::kUnclear ? int{kCaptured} : 0;
}

// Later versions of NCCL may have more types than this one knows of; none has so many.
bool may_be_known(ncclDataType_t type) { return type >= 0 && type < 64; }

bool has_reduction(const Call& call, const Communicator& communicator) {
  if (!call.reduces()) return true;
  if (call.op < ncclNumOps) return call.op >= 0;
  return communicator.own_sums.has(call.op, call.type);
}

// False for a call that NCCL would refuse: NCCL itself has to refuse it.
bool is_sound(const Call& call, const Communicator& communicator) {
  if (!may_be_known(call.type) || !has_reduction(call, communicator)) return false;
  const bool in_range = !call.has_peer() || (call.peer >= 0 && call.peer < communicator.ranks);
  const bool writes = call.writes(communicator.rank);
  if (call.config != nullptr && !may_be_sound(*call.config)) return false;
  return in_range && !(call.reads(communicator.rank) && call.send == nullptr) &&
         !(writes && call.receive == nullptr);
}

// A policy that names siblings asks for the same bits on all of them, whatever the codec.
Compressor::Joins joins_of(const Communicator& communicator) {
  const std::uint32_t siblings = siblings_by(communicator.rules);
  if (!communicator.has_siblings || siblings == 1) return Compressor::Joins::kNothing;
  return siblings > 1 ? Compressor::Joins::kSumsToo : Compressor::Joins::kWhatLoses;
}

Compressor* compressor_of(ncclComm_t comm, Communicator& communicator) {
  if (Compressor* const there = communicator.compressor.load(std::memory_order_acquire))
    return there;
  bool is_known = false;
  with_begun(comm, [&](Communicator* found) {
    is_known = found == &communicator && communicator.agreed != nullptr;
  });
  if (!is_known) return nullptr;
  prepare_device_of(comm);  // where its GPU was not known before
  Compressor* made = nullptr;
  with_begun(comm, [&](Communicator* found) {
    if (found != &communicator) return;
    made = new Compressor(comm, communicator.agreed, communicator.rank, communicator.ranks,
                          communicator.blocks, joins_of(communicator));
    communicator.compressor.store(made, std::memory_order_release);
  });
  return made;
}

// A kind is named by its size within a factor of two.
void note_news(const Planned& planned) {
  const Call& call = planned.call;
  const Decision& decision = planned.decision;
  const agree::Value& value = *decision.turn->news;
  // As in kind_key(): of the others the root makes no difference.
  const bool is_named_by_peer = call.is_message() || call.does(kOfRoot);
  note_timing(*planned.communicator,
              {.operation = call.operation,
               .dtype = decision.dtype,
               .least_bytes = std::bit_floor(call.elements * element_bytes(call.type)),
               .codec = decision.codec,
               .peer = is_named_by_peer ? call.peer : -1,
               .timing_round = value.decided,
               .times = value.times,
               .codes = value.codes});
}

// A group may yet be only simulated.
void keep(const CallNumber& call_number) {
  in_group() ? keep_number(call_number) : call_number.compressor->confirm(call_number);
}

// Calls count whatever their type, as NCCL moves bytes: other ranks may name one that could be
// coded. Empty ones do not, which a program may leave out.
void number_only(const Call& call, Communicator& communicator) {
  const bool is_own = call.is_message() && call.peer == communicator.rank;
  if (communicator.ranks <= 1 || is_own || call.elements == 0) return;
  if (Compressor* const compressor = compressor_of(call.comm, communicator))
    keep(compressor->number_of(call));
}

ncclResult_t go_decided(const Planned& planned, Communicator& communicator) {
  const Decision& decision = planned.decision;
  CallNumber call_number = decision.call_number;
  call_number.of = decision.of[0];
  call_number.has_turn = decision.turn.has_value();
  call_number.stream = planned.call.stream;
  call_number.is_captured = planned.call.is_captured();
  allowed([&] { keep(call_number); });  // the number of the next one stands for this one, too
  if (decision.failure != ncclSuccess) return spoil_group(decision.failure);
  allowed([&] {
    if (decision.turn && decision.turn->news != nullptr) note_news(planned);
    const Plan* const coded = decision.coded() ? decision.plan : nullptr;
    count_call(planned.call, communicator, decision.reason, decision.rule, decision.codec, coded,
               order_of(planned));
  });
  if (decision.in_order) return go_in_order(planned);
  if (!decision.coded()) return go_watched(planned);
  if (!in_group()) return go_coded(planned);
  keep_coded(planned);
  return ncclSuccess;
}

// NCCL carries out a group's collectives before what it makes messages of, and ranks may name them
// in any order: they are numbered as they are carried out. Others of such a communicator are kept,
// too, so that the order among messages stays the program's.
bool is_decided_last(const Call& call, const Communicator& communicator) {
  return call.is_exchange() && communicator.agreed && !has_ended(communicator) &&
         is_sound(call, communicator);
}

ncclResult_t judge(Call call, Communicator& communicator, bool could) {
  if (communicator.out_of_step) {
    count_call(call, communicator, TW_RAW_NO_MEMORY, -1, 0);
    return go_out_of_step(call, communicator);
  }
  const int reason = reason_by_arguments(call, communicator);
  const bool ended = has_ended(communicator);
  const bool is_judged = !ended && is_sound(call, communicator);
  if (reason != 0 || !is_judged) {
    const int why = reason != 0 ? reason : int{kUnusual};
    const Order order = is_judged ? order_of_native(call, communicator, why) : Order::kAny;
    count_call(call, communicator, why, call.choice.only_rule(), call.choice.codec[kBetweenNodes],
               nullptr, order);
    const ncclResult_t result = !could      ? pass(call)
                                : is_judged ? go_raw(call, communicator)
                                            : go_at_once(call);
    const bool counts = could && is_judged && is_taken(result);
    if (counts && !allowed([&] { number_only(call, communicator); }))
      note_missing_number(communicator);
    if (result == ncclSuccess && !ended) note_end_of_raw(call, communicator);
    return result;
  }
  Compressor* const compressor = compressor_of(call.comm, communicator);
  if (compressor == nullptr) {
    const int why = call.raw_as_called != 0 ? call.raw_as_called : int{TW_RAW_PEER_NOT_READY};
    count_call(call, communicator, why, call.choice.only_rule(), call.choice.codec[kBetweenNodes],
               nullptr, order_of_native(call, communicator, why));
    return go_raw(call, communicator);
  }
  // Windows and policies of NCCL's are wishes for speed.
  if (!call.is_ordered) call.left_to_nccl = why_left_to_nccl(call, communicator);
  Counters& counters = communicator.of[call.operation];
  const bool may_refer = Compressor::keeps_results(call) && !group_refers(*compressor);
  return go_decided(
      {call, compressor->decide(call, in_group(), may_refer), compressor, &counters, &communicator},
      communicator);
}

// `of`: the call's communicator, after it is known.
ncclResult_t submit(const Call& call, Communicator*& of) {
  if (Inside::now() || settings().disabled) return pass(call);
  const bool could = settings().could_compress && streams() != Streams::kNone;
  if (!could && !wants_count()) return pass(call);
  Communicator& communicator = counted(call.comm);
  of = &communicator;
  // As NCCL refuses a call before the one before has been seen to succeed.
  if (communicator.is_unfinished) return spoil_group(ncclInvalidArgument);
  if (in_group() && ends_in_group(call.comm)) return spoil_group(ncclInvalidUsage);
  Call own = call;
  if (call.op >= ncclNumOps) own.factor = communicator.own_sums.find(call.op, call.type);
  if (!in_group()) return judge(own, communicator, could);
  own.place = next_place();
  if (call.config != nullptr && may_be_sound(*call.config)) {
    own.kept = std::make_shared<const KeptConfig>(*call.config);
    own.config = own.kept->get();
  }
  if (!could || !is_decided_last(own, communicator)) return judge(own, communicator, could);
  keep_undecided(own);
  return ncclSuccess;
}

}  // namespace

ncclResult_t submit(const Call& call) noexcept {
  Communicator* of = nullptr;
  ncclResult_t result = ncclSuccess;
  const bool is_done = allowed([&] { result = submit(call, of); });
  return is_done ? result : go_refused(call, of);
}

void submit_undecided() noexcept {
  for (const Call& each : take_undecided()) {
    Communicator* of = nullptr;
    const bool is_done = allowed([&] { judge(each, *(of = &counted(each.comm)), true); });
    if (!is_done) go_refused(each, of);
  }
}

}  // namespace thinwire::nccl
