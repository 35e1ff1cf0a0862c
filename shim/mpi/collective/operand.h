// One side of a collective in memory as tw_comm_run() takes it: floats without gaps.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {

class Operand {
 public:
  // No side at all: null, of no elements.
  Operand() = default;

  // `blocks` blocks of the side, from `first` on; their type is made of floats of `leaf_bytes`.
  // Borrows the side's lists.
  Operand(const Side& side, int first, int blocks, std::uint64_t leaf_bytes);

  // Writes where the blocks lie, if they come with places, in floats from data() on, into `places`,
  // one a block.
  void find_places(std::vector<std::uint64_t>& places);

  // Has the floats copied though they have no gaps: the other side is written over them.
  void set_aside() { has_gaps_ = true; }

  // Packs what has gaps, with `read`; else takes room for it. Returns an MPI error code, logged.
  int prepare(bool read);

  // Brings the first `floats` floats, or all, back to where they belong, if they were packed.
  int write_back(std::uint64_t floats = UINT64_MAX);

  void* data() const { return data_; }
  std::uint64_t floats() const { return bytes_ / leaf_bytes_; }

 private:
  // Elements of one type, one after the other.
  struct Run {
    void* at;
    std::int64_t count;
    MPI_Datatype type;
    std::uint64_t bytes;
  };
  template <typename Visit>
  int for_each_run(Visit&& visit) const;
  Run run_of(int block) const;
  bool lies_between_floats() const;
  int transfer(const Run& run, std::byte* dense, std::uint64_t bytes, bool pack_it) const;

  Side side_;
  int first_ = 0;
  int blocks_ = 0;
  std::uint64_t leaf_bytes_ = 1;
  std::uint64_t bytes_ = 0;
  bool has_gaps_ = false;
  bool on_device_ = false;
  void* data_ = nullptr;
  Lease packed_;
};

}  // namespace thinwire::mpi
