// Counts the calls that stay the MPI's own, and what they carry.
#pragma once

#include <cstdint>

#include "shim/mpi/collective/part.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/native_reason.h"

namespace thinwire::mpi {

// Bytes of one side's blocks. Not valid: counts or types that the MPI is to judge.
struct Total {
  bool valid = true;
  std::uint64_t bytes = 0;
};
Total total_of(const Side& side, int first, int blocks);

// Bytes that this rank gives the others in a call, itself among them: its side that is sent, of a
// broadcast the root's buffer, in place the part that stands for it. Summed over the ranks that is
// what the call carries, however often the MPI sends it on. 0 if the MPI is to judge the call.
std::uint64_t bytes_given(const CollectiveArguments& arguments);

// The bytes only if a report or a trace is wanted, which alone tell them. `part` as far as it is
// known.
void count_native(NativeReason why, const CollectiveArguments& arguments, const Part& part);

// The kind of a call in the log of plans.
KindKey kind_key_of(const Part& part);

}  // namespace thinwire::mpi
