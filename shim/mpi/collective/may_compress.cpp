#include "shim/mpi/collective/may_compress.h"

#include <algorithm>
#include <bit>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/collective/communicators.h"
#include "shim/mpi/collective/native_count.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// False: between two groups, or alone.
bool find_place(const CollectiveArguments& arguments, Part& part) {
  int inter = 0;
  if (real().Comm_test_inter(arguments.comm, &inter) != MPI_SUCCESS || inter != 0) return false;
  real().Comm_size(arguments.comm, &part.ranks);
  if (part.ranks < 2) return false;
  real().Comm_rank(arguments.comm, &part.rank);
  return true;
}

int blocks_here(const Part& part, Where where, Blocks blocks, int root) {
  const bool here = where == Where::kEverywhere || (where == Where::kAtRoot && part.rank == root);
  return !here ? 0 : blocks == Blocks::kOne ? 1 : part.ranks;
}

// False: a root that there is not, or MPI_IN_PLACE if it means nothing.
bool find_sides(const CollectiveArguments& arguments, Part& part) {
  const Form& form = *part.form;
  const bool rooted = form.sent_at == Where::kAtRoot || form.received_at == Where::kAtRoot ||
                      form.call == CollectiveCall::kBcast;
  if (rooted && (arguments.root < 0 || arguments.root >= part.ranks)) return false;
  part.sent_blocks = blocks_here(part, form.sent_at, form.sent, arguments.root);
  part.received_blocks = blocks_here(part, form.received_at, form.received, arguments.root);
  const bool scatters = form.operation == TW_SCATTER;
  const Side& other = scatters ? arguments.received : arguments.sent;
  const Side& kept = scatters ? arguments.sent : arguments.received;
  if (kept.buffer == MPI_IN_PLACE && (scatters ? part.sent_blocks : part.received_blocks) > 0) {
    return false;
  }
  int& blocks = scatters ? part.received_blocks : part.sent_blocks;
  if (blocks == 0 || other.buffer != MPI_IN_PLACE) return true;
  if (form.operation == TW_BCAST || (rooted && part.rank != arguments.root)) return false;
  part.in_place = true;
  blocks = 0;
  // A block that is reduced in place is as long as what would have been sent.
  if (form.operation == TW_REDUCE_SCATTER) part.received_blocks = part.ranks;
  return true;
}

// Bytes that MPI has all ranks know: the whole array of Bcast and the reductions, else one block,
// on average if blocks differ.
std::uint64_t bytes_known_to_all(const Part& part, const Total& sent, const Total& received) {
  const Form& form = *part.form;
  const bool many = part.received_blocks > 1 && !part.disagrees;
  if (form.operation == TW_REDUCE_SCATTER) return part.in_place ? received.bytes : sent.bytes;
  if (form.operation == TW_ALLGATHER || form.operation == TW_GATHER ||
      form.operation == TW_ALLTOALL) {
    const auto ranks = static_cast<std::uint64_t>(part.ranks);
    if (many) return received.bytes / ranks;
    return part.sent_blocks > 1 ? sent.bytes / ranks : sent.bytes;
  }
  if (form.operation == TW_SCATTER) {
    return part.sent_blocks > 1 ? sent.bytes / static_cast<std::uint64_t>(part.ranks)
                                : received.bytes;
  }
  return part.received_blocks > 0 ? received.bytes : sent.bytes;
}

// The signature of a block of `bytes` bytes.
Signature signature_of(const TypeFacts& facts, std::uint64_t bytes) {
  if (facts.values == Values::kWords) {
    const int zeros = std::min(std::countr_zero(bytes), 3);
    return Signature{kOfWords1} << zeros;
  }
  const Signature pairs = facts.values == Values::kPairs ? kOfPairs : kNothing;
  if (facts.leaf == TW_F32) return kOfF32 | pairs;
  return facts.leaf == TW_F64 ? kOfF64 | pairs : Signature{kOfOthers};
}

// True if floats alone are reduced. Pairs that are added up are no sum of floats: MPI has products
// of complex numbers, and has no order of them.
bool is_of_floats_alone(tw_reduction reduction, Signature whole) {
  return (whole & kOfPairs) == 0 || reduction == TW_SUM;
}

// Adds what the side's blocks are made of; what has no elements says nothing. False: a type that is
// not committed, for the MPI to say so. It is asked only about what may be compressed as a whole:
// what it is asked on has to be made first, and making a communicator while the program duplicates
// another one without blocking makes some MPIs hang.
bool add_signature(const Side& side, int first, int blocks, Signature& whole) {
  const bool asks_of_words = process().settings.knows_words();
  MPI_Datatype last = MPI_DATATYPE_NULL;
  TypeFacts facts;
  for (int block = first; block < first + blocks; ++block) {
    const MPI_Datatype type = side.type_of(block);
    const bool is_same = type == last;
    if (is_same && (facts.values != Values::kWords || !asks_of_words)) continue;
    const std::uint64_t bytes = message_bytes(side.counts.count(block), type);
    if (bytes == 0) continue;
    if (!is_same) facts = type_facts(type);
    const Signature own = signature_of(facts, bytes);
    whole |= own;
    const bool may_be_taken = (own & (asks_of_words ? kOfOthers : kOfOthers | kOfWords)) == 0;
    if (!is_same && may_be_taken && type != MPI_FLOAT && type != MPI_DOUBLE && !is_usable(type)) {
      return false;
    }
    last = type;
  }
  return true;
}

// Whether the side's first float lies where its buffer begins.
bool begins_at_buffer(const Side& side) {
  return side.types == nullptr && !side.counts.has_places() && type_facts(side.type).dense;
}

// Data where there can be none.
bool buffers_are_wrong(const CollectiveArguments& arguments, const Total& sent,
                       const Total& received) {
  const auto is_null = [](const Side& side, const Total& total) {
    return total.bytes > 0 && begins_at_buffer(side) && side.buffer == nullptr;
  };
  return is_null(arguments.sent, sent) || is_null(arguments.received, received);
}

// Two sides that certainly share some bytes without MPI_IN_PLACE. Sides with gaps or places may
// begin at one address and share nothing.
bool sides_overlap(const CollectiveArguments& arguments, const Total& sent, const Total& received) {
  return sent.bytes > 0 && received.bytes > 0 &&
         arguments.sent.buffer == arguments.received.buffer && begins_at_buffer(arguments.sent) &&
         begins_at_buffer(arguments.received);
}

// Whether the MPI refuses those, on the rank that has them, before it sends anything. Open MPI
// looks in reductions alone, and runs the others as if the sent side had been copied before.
bool refuses_overlap([[maybe_unused]] const Form& form) {
#ifdef OPEN_MPI
  return form.reduces;
#else
  return true;
#endif
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

NativeReason may_compress(const CollectiveArguments& arguments, Part& part) {
  const Settings& settings = process().settings;
  part.form = &form_of(arguments.call);
  const Form& form = *part.form;
  if ((settings.collectives.calls & bit_of(arguments.call)) == 0) return NativeReason::kNotNamed;
  if (arguments.comm == MPI_COMM_NULL) return NativeReason::kArguments;
  if (!find_place(arguments, part)) return NativeReason::kCommunicator;
  if (!find_sides(arguments, part)) return NativeReason::kArguments;
  const int sent_first = part.first_block(form.sent);
  const int received_first = part.received_blocks > 1 ? 0 : part.first_block(form.received);
  const Total sent = total_of(arguments.sent, sent_first, part.sent_blocks);
  const Total received = total_of(arguments.received, received_first, part.received_blocks);
  if (!sent.valid || !received.valid) return NativeReason::kArguments;
  part.disagrees = sides_disagree(part, sent, received);
  const std::uint64_t bytes = bytes_known_to_all(part, sent, received);
  // No rank knows what the others send in calls that are compressed by name alone.
  const bool by_name = compressed_by_name_alone(arguments.call);
  part.is_open = by_name;
  part.bytes = bytes;
  if (!by_name && (bytes == 0 || bytes < settings.plan.threshold)) {
    return NativeReason::kBelowThreshold;
  }
  if (!add_signature(arguments.sent, sent_first, part.sent_blocks, part.signature) ||
      !add_signature(arguments.received, received_first, part.received_blocks, part.signature)) {
    return NativeReason::kArguments;
  }
  if (!part.take(part.signature) && !part.may_hold_floats() && !by_name) {
    return NativeReason::kDtype;
  }
  if (form.reduces) {
    const auto reduction = reduction_of(arguments.op);
    if (!reduction || !is_of_floats_alone(*reduction, part.signature)) {
      return NativeReason::kReduction;
    }
    part.reduction = *reduction;
  }
  if (form.reduces && !settings.codes_reductions()) return NativeReason::kReductionUnderAuto;
  if (buffers_are_wrong(arguments, sent, received)) return NativeReason::kArguments;
  part.overlaps = sides_overlap(arguments, sent, received);
  if (part.overlaps && refuses_overlap(form)) return NativeReason::kArguments;
  part.traced_name = traced_name(arguments.comm);
  return NativeReason::kCompressed;
}

NativeReason may_compress_under_codec(const Collectives& kept, Part& part) {
  const Form& form = *part.form;
  const auto at_first = std::ranges::count(kept.nodes, kept.nodes.front());
  const bool within = at_first == static_cast<std::ptrdiff_t>(kept.nodes.size());
  // No rank knows the others' sizes in calls that are compressed by name alone.
  const std::uint64_t bytes = compressed_by_name_alone(form.call) ? kNotKnown : part.bytes;
  const auto choose = [&](std::uint32_t dtype) {
    return choose_for_collective(kept.rules, form.operation, dtype, bytes, within);
  };
  const Choice choice = choose(part.is_open ? std::uint32_t{TW_F32} : std::uint32_t{part.leaf});
  // Data that no rule speaks of are no floats.
  if (!part.is_open && part.leaf == TW_BYTES) {
    if (choice.use != nullptr && !part.hold(choice.holds)) return NativeReason::kDtype;
  }
  // Which of the two it is may not be known yet.
  const bool in_doubt =
      choice.use == nullptr || (part.is_open && choose(TW_F64).rule != choice.rule);
  if (in_doubt || choice.use->is_off()) return NativeReason::kOff;
  part.codec = choice.use->codec.get();
  part.rule = choice.rule;
  part.is_lossy = choice.use->is_lossy;
  const bool is_native = form.reduces && !choice.use->codes_reductions();
  return is_native ? NativeReason::kReductionUnderAuto : NativeReason::kCompressed;
}

}  // namespace thinwire::mpi
