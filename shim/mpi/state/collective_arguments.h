// A collective as the program asks for it, whatever the width of its counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/collective_settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

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
