// Whether a collective may enter, before anything is asked of its communicator.
#pragma once

#include <cstdint>

#include "collectives/asked.h"
#include "collectives/form.h"
#include "collectives/native.h"

namespace thinwire::mpi {

// This rank's part in a call.
struct Part {
  const Form* form = nullptr;
  int rank = 0;
  int ranks = 0;
  bool in_place = false;
  int sent_blocks = 0;  // 0: this rank has no such side
  int received_blocks = 0;
  tw_dtype leaf = TW_BYTES;
  std::uint64_t leaf_bytes = 1;
  tw_reduction reduction = TW_SUM;

  int first_block(Blocks blocks) const { return blocks == Blocks::kOne ? rank : 0; }
};

// kCompressed: it may, and `part` is filled in. Says the same on all ranks of a correct program:
// where arguments are wrong on one of them, the MPI's own call is to say so.
NativeReason judge_call(const Asked& asked, Part& part);

}  // namespace thinwire::mpi
