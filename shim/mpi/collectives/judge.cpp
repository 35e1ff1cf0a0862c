#include "collectives/judge.h"

#include <algorithm>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "abi/self.h"
#include "collectives/communicators.h"
#include "collectives/native_count.h"
#include "process/policy.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "trace/trace.h"

namespace thinwire::mpi {
namespace {

// False: between two groups, or alone.
bool find_place(const Asked& asked, Part& part) {
  int inter = 0;
  if (real().Comm_test_inter(asked.comm, &inter) != MPI_SUCCESS || inter != 0) return false;
  real().Comm_size(asked.comm, &part.ranks);
  if (part.ranks < 2) return false;
  real().Comm_rank(asked.comm, &part.rank);
  return true;
}

int blocks_here(const Part& part, Where where, Blocks blocks, int root) {
  const bool here = where == Where::kEverywhere || (where == Where::kAtRoot && part.rank == root);
  return !here ? 0 : blocks == Blocks::kOne ? 1 : part.ranks;
}

// False: a root that there is not, or MPI_IN_PLACE where it means nothing.
bool find_sides(const Asked& asked, Part& part) {
  const Form& form = *part.form;
  const bool rooted = form.sent_at == Where::kAtRoot || form.received_at == Where::kAtRoot ||
                      form.call == CollectiveCall::kBcast;
  if (rooted && (asked.root < 0 || asked.root >= part.ranks)) return false;
  part.sent_blocks = blocks_here(part, form.sent_at, form.sent, asked.root);
  part.received_blocks = blocks_here(part, form.received_at, form.received, asked.root);
  const bool scatters = form.operation == TW_SCATTER;
  const Side& other = scatters ? asked.received : asked.sent;
  const Side& kept = scatters ? asked.sent : asked.received;
  if (kept.buffer == MPI_IN_PLACE && (scatters ? part.sent_blocks : part.received_blocks) > 0) {
    return false;
  }
  int& blocks = scatters ? part.received_blocks : part.sent_blocks;
  if (blocks == 0 || other.buffer != MPI_IN_PLACE) return true;
  if (form.operation == TW_BCAST || (rooted && part.rank != asked.root)) return false;
  part.in_place = true;
  blocks = 0;
  // What is reduced in place is as long as what would have been sent.
  if (form.operation == TW_REDUCE_SCATTER) part.received_blocks = part.ranks;
  return true;
}

// What MPI has all ranks know: the whole array of Bcast and the reductions, else one block, on
// average where blocks differ.
std::uint64_t bytes_known_to_all(const Part& part, const Total& sent, const Total& received) {
  const Form& form = *part.form;
  const bool many = part.received_blocks > 1;
  if (form.operation == TW_REDUCE_SCATTER) return part.in_place ? received.bytes : sent.bytes;
  if (form.operation == TW_ALLGATHER || form.operation == TW_GATHER ||
      form.operation == TW_ALLTOALL) {
    return many ? received.bytes / static_cast<std::uint64_t>(part.ranks) : sent.bytes;
  }
  if (form.operation == TW_SCATTER) {
    return part.sent_blocks > 1 ? sent.bytes / static_cast<std::uint64_t>(part.ranks)
                                : received.bytes;
  }
  return part.received_blocks > 0 ? received.bytes : sent.bytes;
}

Signature signature_of(tw_dtype leaf) {
  return leaf == TW_F32 ? kOfF32 : leaf == TW_F64 ? kOfF64 : kOfOthers;
}

// Adds what the side's blocks are made of; what has no elements says nothing. False: a type that is
// not committed, for the MPI to say so. It is asked only about what may be taken over: what it is
// asked on has to be made first, and making a communicator while the program duplicates another one
// without blocking makes some MPIs hang.
bool add_signature(const Side& side, int first, int blocks, Signature& whole) {
  const auto add = [&whole](MPI_Datatype type) {
    const Signature own = signature_of(type_facts(type).leaf);
    whole |= own;
    if (own == kOfOthers || type == MPI_FLOAT || type == MPI_DOUBLE) return true;
    return is_committed(type);
  };
  MPI_Datatype last = MPI_DATATYPE_NULL;
  for (int block = first; block < first + blocks; ++block) {
    const MPI_Datatype type = side.type_of(block);
    if (type == last || message_bytes(side.counts.count(block), type) == 0) continue;
    if (!add(type)) return false;
    last = type;
  }
  return true;
}

bool find_reduction(MPI_Op op, tw_reduction& reduction) {
  const struct {
    MPI_Op op;
    tw_reduction reduction;
  } known[] = {
      {MPI_SUM, TW_SUM}, {MPI_PROD, TW_PRODUCT}, {MPI_MIN, TW_MINIMUM}, {MPI_MAX, TW_MAXIMUM}};
  for (const auto& each : known) {
    if (op != each.op) continue;
    reduction = each.reduction;
    return true;
  }
  return false;
}

// Whether the side's first float lies where its buffer begins.
bool begins_at_buffer(const Side& side) {
  return side.types == nullptr && !side.counts.has_places() && type_facts(side.type).dense;
}

// Data where there can be none, or two sides that certainly share some without MPI_IN_PLACE. Sides
// with gaps or places may begin at one address and share nothing.
bool buffers_are_wrong(const Asked& asked, const Total& sent, const Total& received) {
  const auto is_null = [](const Side& side, const Total& total) {
    return total.bytes > 0 && begins_at_buffer(side) && side.buffer == nullptr;
  };
  if (is_null(asked.sent, sent) || is_null(asked.received, received)) return true;
  return sent.bytes > 0 && received.bytes > 0 && asked.sent.buffer == asked.received.buffer &&
         begins_at_buffer(asked.sent) && begins_at_buffer(asked.received);
}

// Sides of one rank that say different things of one block.
bool sides_disagree(const Part& part, const Total& sent, const Total& received) {
  if (part.sent_blocks == 0 || part.received_blocks == 0) return false;
  const auto ranks = static_cast<std::uint64_t>(part.ranks);
  switch (part.form->call) {
    case CollectiveCall::kAllgather:
    case CollectiveCall::kGather:
      return sent.bytes * ranks != received.bytes;
    case CollectiveCall::kScatter:
      return sent.bytes != received.bytes * ranks;
    case CollectiveCall::kAlltoall:
      return sent.bytes != received.bytes;
    default:
      return false;
  }
}

}  // namespace

bool Part::take(Signature whole) {
  leaf = whole == kOfF32 ? TW_F32 : whole == kOfF64 ? TW_F64 : TW_BYTES;
  leaf_bytes = mpi::leaf_bytes(leaf);
  return leaf != TW_BYTES;
}

NativeReason judge_call(const Asked& asked, Part& part) {
  const Settings& settings = process().settings;
  part.form = &form_of(asked.call);
  const Form& form = *part.form;
  if ((settings.collectives.calls & bit_of(asked.call)) == 0) return NativeReason::kNotNamed;
  if (asked.comm == MPI_COMM_NULL) return NativeReason::kArguments;
  if (!find_place(asked, part)) return NativeReason::kCommunicator;
  if (!find_sides(asked, part)) return NativeReason::kArguments;
  const int sent_first = part.first_block(form.sent);
  const int received_first = part.received_blocks > 1 ? 0 : part.first_block(form.received);
  const Total sent = total_of(asked.sent, sent_first, part.sent_blocks);
  const Total received = total_of(asked.received, received_first, part.received_blocks);
  if (!sent.valid || !received.valid) return NativeReason::kArguments;
  const std::uint64_t bytes = bytes_known_to_all(part, sent, received);
  // Of calls that are taken over by name alone no rank knows what the others send.
  const bool by_name = taken_over_by_name_alone(asked.call);
  part.is_open = by_name;
  part.bytes = bytes;
  if (!by_name && (bytes == 0 || bytes < settings.plan.threshold)) {
    return NativeReason::kBelowThreshold;
  }
  if (!add_signature(asked.sent, sent_first, part.sent_blocks, part.signature) ||
      !add_signature(asked.received, received_first, part.received_blocks, part.signature)) {
    return NativeReason::kArguments;
  }
  if (!part.take(part.signature) && !by_name) return NativeReason::kDtype;
  if (form.reduces && !find_reduction(asked.op, part.reduction)) return NativeReason::kReduction;
  if (form.reduces && !settings.codes_reductions()) return NativeReason::kReductionUnderAuto;
  if (sides_disagree(part, sent, received) || buffers_are_wrong(asked, sent, received)) {
    return NativeReason::kArguments;
  }
  part.traced_name = traced_name(asked.comm);
  return NativeReason::kCompressed;
}

NativeReason judge_codec(const Collectives& kept, Part& part) {
  const Form& form = *part.form;
  const auto at_first = std::ranges::count(kept.nodes, kept.nodes.front());
  const bool within = at_first == static_cast<std::ptrdiff_t>(kept.nodes.size());
  // Of those that are taken over by name alone no rank knows the others' sizes.
  const std::uint64_t bytes = taken_over_by_name_alone(form.call) ? kNotKnown : part.bytes;
  const auto choose = [&](std::uint32_t dtype) {
    return choose_for_collective(kept.rules, form.operation, dtype, bytes, within);
  };
  const Choice choice = choose(part.is_open ? std::uint32_t{TW_F32} : std::uint32_t{part.leaf});
  // Which of the two it is may not be known yet.
  const bool in_doubt =
      choice.use == nullptr || (part.is_open && choose(TW_F64).rule != choice.rule);
  if (in_doubt || choice.use->is_off()) return NativeReason::kOff;
  part.codec = choice.use->codec.get();
  part.rule = choice.rule;
  const bool is_native = form.reduces && !choice.use->codes_reductions();
  return is_native ? NativeReason::kReductionUnderAuto : NativeReason::kCompressed;
}

}  // namespace thinwire::mpi
