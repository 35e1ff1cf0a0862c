// A call's memory as the blocks of a schedule.
#pragma once

#include <vector>

#include "collective/arrays.h"
#include "collective/cutting.h"
#include "comm/call.h"

namespace thinwire::comm {

// Kept from call to call, so that a steady state allocates nothing.
class Binding {
 public:
  // `parts`: how many blocks the schedule has. `counts`: elements of each rank's block if only
  // one rank knows them all (Gather and Scatter with lists); else nullptr.
  void bind(const Call& call, const collective::Cutter& cutter, int rank, int size,
            std::uint32_t parts, const std::uint64_t* counts);

  std::span<const collective::Block> blocks() const { return blocks_; }
  collective::Arrays arrays() const { return {input_, output_}; }

 private:
  void bind_parts(const Call& call, const collective::Cutter& cutter, int rank,
                  std::uint32_t parts);
  void bind_reduce_scatter(const Call& call, const collective::Cutter& cutter, int rank, int size);
  void bind_ranks(const Call& call, const collective::Cutter& cutter, int rank, int size,
                  const std::uint64_t* counts);
  void bind_alltoall(const Call& call, const collective::Cutter& cutter, int rank, int size);
  void resize(std::size_t blocks);

  std::vector<collective::Block> blocks_;
  std::vector<std::byte*> input_, output_;
};

}  // namespace thinwire::comm
