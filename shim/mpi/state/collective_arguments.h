// A collective as the program asks for it, whatever the width of its counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/collective_settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Forms of the calls: what each does with its two sides, as MPI has it.

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

// How many elements go to or come from each rank, and where they lie: one count for all, one block
// after the other, or lists. Borrows the program's lists.
class Counts {
 public:
  Counts() = default;
  Counts(std::int64_t each) : each_(each) {}
  // Without places the blocks lie one after the other.
  Counts(const int* counts, const int* places)
      : list_(counts), places_(places), kind_(Kind::kNarrow) {}
  Counts(const MPI_Count* counts, const MPI_Aint* places)
      : list_(counts), places_(places), kind_(Kind::kWide) {}

  bool is_list() const { return kind_ != Kind::kEach; }
  bool has_places() const { return places_ != nullptr; }
  bool is_missing() const { return is_list() && list_ == nullptr; }

  std::int64_t count(int rank) const {
    if (kind_ == Kind::kEach) return each_;
    return kind_ == Kind::kNarrow ? static_cast<const int*>(list_)[rank]
                                  : static_cast<const MPI_Count*>(list_)[rank];
  }
  std::int64_t place(int rank) const {
    return kind_ == Kind::kNarrow ? static_cast<const int*>(places_)[rank]
                                  : static_cast<const MPI_Aint*>(places_)[rank];
  }

  // The same out of lists of `entries` entries that `keep(list, bytes)` has copied.
  template <typename Keep>
  Counts copied(int entries, Keep&& keep) const {
    Counts made = *this;
    const auto number = static_cast<std::size_t>(entries);
    const bool narrow = kind_ == Kind::kNarrow;
    if (list_ != nullptr) {
      made.list_ = keep(list_, number * (narrow ? sizeof(int) : sizeof(MPI_Count)));
    }
    if (places_ != nullptr) {
      made.places_ = keep(places_, number * (narrow ? sizeof(int) : sizeof(MPI_Aint)));
    }
    return made;
  }

 private:
  enum class Kind : std::uint8_t { kEach, kNarrow, kWide };
  std::int64_t each_ = 0;
  const void* list_ = nullptr;
  const void* places_ = nullptr;
  Kind kind_ = Kind::kEach;
};

// Blocks of these lengths, one after the other.
inline Counts listed(const int counts[]) { return {counts, static_cast<const int*>(nullptr)}; }
inline Counts listed(const MPI_Count counts[]) {
  return {counts, static_cast<const MPI_Aint*>(nullptr)};
}

// One side of a call. Where MPI does not look at it, its values mean nothing.
struct Side {
  const void* buffer = nullptr;  // may be MPI_IN_PLACE
  Counts counts;
  MPI_Datatype type{};
  const MPI_Datatype* types = nullptr;  // one a block instead of `type`; places are then in bytes

  MPI_Datatype type_of(int block) const { return types != nullptr ? types[block] : type; }
};

struct CollectiveArguments {
  CollectiveCall call{};
  MPI_Comm comm{};
  Side sent{};
  Side received{};
  int root = -1;  // of rooted calls
  MPI_Op op{};    // of reductions
};

}  // namespace thinwire::mpi
