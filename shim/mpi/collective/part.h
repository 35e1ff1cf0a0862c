// One rank's part in a collective call, and what its elements are.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "shim/mpi/observe/plan_log.h"
#include "shim/mpi/state/collective_arguments.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Types that the elements of a call are made of, by their type signature: several of these
// together.
using Signature = std::uint32_t;
enum : Signature {
  kNothing = 0,
  kOfF32 = 1,
  kOfF64 = 2,
  kOfOthers = 4,
  // Bytes and 16-bit integers, in a block that is a multiple of so many bytes, and of no more of
  // these. A rank whose bytes are another's integers breaks MPI's rules, and is taken alike.
  kOfWords1 = 8,
  kOfWords2 = 16,
  kOfWords4 = 32,
  kOfWords8 = 64,
  // Beside the others: some of the floats are halves of a pair, as of a complex number.
  kOfPairs = 128,
};
constexpr Signature kOfWords = kOfWords1 | kOfWords2 | kOfWords4 | kOfWords8;
constexpr int kFirstOfWords = std::countr_zero(Signature{kOfWords1});

// The library's operation for one of MPI's own; nothing for others.
std::optional<tw_reduction> reduction_of(MPI_Op op);

// This rank's part in a call.
struct Part {
  const Form* form = nullptr;
  int rank = 0;
  int ranks = 0;
  bool in_place = false;
  int sent_blocks = 0;  // 0: this rank has no such side
  int received_blocks = 0;
  // Facts that only this rank can see of its sides, and that therefore decide nothing: it takes
  // part.
  bool disagrees = false;          // they say different lengths of one block; its call will fail
  bool overlaps = false;           // they share bytes; the sent one is set aside
  Signature signature = kNothing;  // of both sides together
  tw_dtype leaf = TW_BYTES;        // the float type that this is, if it is one alone
  std::uint64_t leaf_bytes = 1;
  std::uint64_t word_bytes = 0;  // by which all blocks of bytes and 16-bit integers divide, or 0
  bool is_open = false;          // `signature` is this rank's share of it alone
  tw_reduction reduction = TW_SUM;
  std::uint64_t bytes = 0;          // by which it is judged; of an open one this rank's own
  std::uint32_t largest_bits = 0;   // bit_width() of the largest rank's, if that was agreed on
  const tw_codec* codec = nullptr;  // after it is chosen
  int rule = -1;                    // of the policy, that has named it
  bool is_lossy = false;            // the codec
  mutable bool is_forced = false;   // compressed by what was planned for its kind before
  std::uint32_t traced_name = 0;    // of the communicator, in the trace
  mutable Planned planned;          // as the communicator's plan foresaw it, after it was asked
  mutable std::optional<std::int64_t> gain;  // nanoseconds by which calls like it were faster

  int first_block(Blocks blocks) const { return blocks == Blocks::kOne ? rank : 0; }

  // Takes that signature for the call's; false if it is not of one float type.
  bool take(Signature whole);

  // Takes bytes and 16-bit integers for floats of that type; false if they cannot be.
  bool hold(tw_dtype held);

  // Whether a policy may say what floats the call's elements hold.
  bool may_hold_floats() const;
};

}  // namespace thinwire::mpi
