// Forms of the calls: what each does with its two sides, as MPI has it.
#pragma once

#include <cstdint>

#include "shim/mpi/state/collective_settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

enum class Where : std::uint8_t { kNowhere, kAtRoot, kEverywhere };
enum class Blocks : std::uint8_t { kOne, kOneEach };  // one block, or one for each rank

struct Form {
  CollectiveCall call;
  tw_operation operation;
  const char* name;
  Where sent_at;
  Blocks sent;
  Where received_at;
  Blocks received;
  bool reduces = false;
};

// In the order of CollectiveCall.
// clang-format off
constexpr Form kForms[] = {
    {CollectiveCall::kBcast, TW_BCAST, "MPI_Bcast",
     Where::kNowhere, Blocks::kOne, Where::kEverywhere, Blocks::kOne},
    {CollectiveCall::kReduce, TW_REDUCE, "MPI_Reduce",
     Where::kEverywhere, Blocks::kOne, Where::kAtRoot, Blocks::kOne, true},
    {CollectiveCall::kAllreduce, TW_ALLREDUCE, "MPI_Allreduce",
     Where::kEverywhere, Blocks::kOne, Where::kEverywhere, Blocks::kOne, true},
    {CollectiveCall::kReduceScatter, TW_REDUCE_SCATTER, "MPI_Reduce_scatter",
     Where::kEverywhere, Blocks::kOneEach, Where::kEverywhere, Blocks::kOne, true},
    {CollectiveCall::kReduceScatterBlock, TW_REDUCE_SCATTER, "MPI_Reduce_scatter_block",
     Where::kEverywhere, Blocks::kOneEach, Where::kEverywhere, Blocks::kOne, true},
    {CollectiveCall::kAllgather, TW_ALLGATHER, "MPI_Allgather",
     Where::kEverywhere, Blocks::kOne, Where::kEverywhere, Blocks::kOneEach},
    {CollectiveCall::kAllgatherv, TW_ALLGATHER, "MPI_Allgatherv",
     Where::kEverywhere, Blocks::kOne, Where::kEverywhere, Blocks::kOneEach},
    {CollectiveCall::kGather, TW_GATHER, "MPI_Gather",
     Where::kEverywhere, Blocks::kOne, Where::kAtRoot, Blocks::kOneEach},
    {CollectiveCall::kGatherv, TW_GATHER, "MPI_Gatherv",
     Where::kEverywhere, Blocks::kOne, Where::kAtRoot, Blocks::kOneEach},
    {CollectiveCall::kScatter, TW_SCATTER, "MPI_Scatter",
     Where::kAtRoot, Blocks::kOneEach, Where::kEverywhere, Blocks::kOne},
    {CollectiveCall::kScatterv, TW_SCATTER, "MPI_Scatterv",
     Where::kAtRoot, Blocks::kOneEach, Where::kEverywhere, Blocks::kOne},
    {CollectiveCall::kAlltoall, TW_ALLTOALL, "MPI_Alltoall",
     Where::kEverywhere, Blocks::kOneEach, Where::kEverywhere, Blocks::kOneEach},
    {CollectiveCall::kAlltoallv, TW_ALLTOALL, "MPI_Alltoallv",
     Where::kEverywhere, Blocks::kOneEach, Where::kEverywhere, Blocks::kOneEach},
    {CollectiveCall::kAlltoallw, TW_ALLTOALL, "MPI_Alltoallw",
     Where::kEverywhere, Blocks::kOneEach, Where::kEverywhere, Blocks::kOneEach},
};
// clang-format on

constexpr const Form& form_of(CollectiveCall call) {
  return kForms[static_cast<std::uint32_t>(call)];
}

constexpr bool forms_are_in_order() {
  std::uint32_t at = 0;
  for (const Form& form : kForms) {
    if (static_cast<std::uint32_t>(form.call) != at++) return false;
  }
  return true;
}
static_assert(forms_are_in_order());

}  // namespace thinwire::mpi
