// Blocking reductions in the order of the ranks, by the MPI's own moves. All ranks cut the call
// alike, by its count and the number of ranks.
#include <algorithm>
#include <climits>
#include <vector>

#include "shim/mpi/collective/ordered.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/pool.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Up to so many bytes of all ranks together every rank gets all and adds up by itself: one call of
// the MPI, whose latency decides. Above, each rank adds up a part.
constexpr std::uint64_t kMostGathered = 256 << 10;
// The bytes of an array, or of all blocks, that are moved at once.
constexpr std::uint64_t kMostAtOnce = 32 << 20;

// How the elements of one round are cut: so many for each rank, one after the other. In units of
// what travels.
struct Cut {
  std::vector<int> counts, places;

  Cut(std::uint64_t elements, int ranks, std::uint64_t units) {
    const auto parts = static_cast<std::uint64_t>(ranks);
    std::uint64_t place = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t count = elements / parts + (part < elements % parts ? 1 : 0);
      counts.push_back(static_cast<int>(count * units));
      places.push_back(static_cast<int>(place * units));
      place += count;
    }
  }
};

class Run {
 public:
  explicit Run(const OrderedCall& call)
      : call_(call),
        type_(call.adder.moved_type()),
        units_(call.adder.units()),
        bytes_(call.adder.element_bytes()) {}

  // An MPI error code; those of the MPI's own calls are raised already.
  int run() {
    if (call_.scatters()) return reduce_scatter();
    const std::uint64_t count = call_.count_of(0);
    const bool scans = call_.sum == Sum::kScan || call_.sum == Sum::kExscan;
    const std::uint64_t ranks = static_cast<std::uint64_t>(call_.ranks);
    const bool gathers = scans || count < ranks || count * bytes_ * ranks <= kMostGathered;
    const std::uint64_t most = gathers ? kMostAtOnce / ranks : kMostAtOnce;
    const std::uint64_t step = std::max<std::uint64_t>(most / bytes_, gathers ? 1 : ranks);
    for (std::uint64_t at = 0; at < count; at += step) {
      const std::uint64_t few = std::min(step, count - at);
      const int error = gathers ? gather(at, few) : add_parts(at, few);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

  bool is_raised() const { return is_raised_; }

 private:
  const std::byte* input(std::uint64_t at) const {
    return static_cast<const std::byte*>(call_.input) + at * bytes_;
  }
  std::byte* output(std::uint64_t at) const {
    return static_cast<std::byte*>(call_.output) + at * bytes_;
  }

  bool take(std::uint64_t elements) {
    if (elements <= taken_) return true;
    memory_ = process().pool.acquire(std::max<std::uint64_t>(elements * bytes_, 1));
    taken_ = memory_ ? elements : 0;
    return static_cast<bool>(memory_);
  }

  int of_mpi(int error) {
    is_raised_ = error != MPI_SUCCESS;
    return error;
  }

  int give(std::byte* to, std::uint64_t elements) {
    const tw_status status = tw_memory_copy(to, memory_.data(), elements * bytes_);
    return status == TW_OK ? MPI_SUCCESS : MPI_ERR_INTERN;
  }

  // Whoever has a result gets what all have of so many elements.
  int gather(std::uint64_t at, std::uint64_t elements) {
    const auto count = static_cast<int>(elements * units_);
    const bool adds = call_.has_result();
    if (adds && !take(elements * static_cast<std::uint64_t>(call_.ranks))) return MPI_ERR_NO_MEM;
    const int error =
        call_.sum == Sum::kReduce
            ? real().Gather(input(at), count, type_, memory_.data(), count, type_, call_.root,
                            call_.comm)
            : real().Allgather(input(at), count, type_, memory_.data(), count, type_, call_.comm);
    if (error != MPI_SUCCESS) return of_mpi(error);
    if (!adds || call_.summands() == 0) return MPI_SUCCESS;
    const int added = call_.adder.add_up(memory_.data(), call_.summands(), elements);
    return added == MPI_SUCCESS ? give(output(at), elements) : added;
  }

  // Each rank adds up a part, and gives it to those who have a result.
  int add_parts(std::uint64_t at, std::uint64_t elements) {
    const Cut cut(elements, call_.ranks, units_);
    const int own = cut.counts[static_cast<std::size_t>(call_.rank)];
    if (int error = bring(input(at), cut.counts, cut.places, own); error != MPI_SUCCESS) {
      return error;
    }
    const int error =
        call_.sum == Sum::kReduce
            ? real().Gatherv(memory_.data(), own, type_, output(at), cut.counts.data(),
                             cut.places.data(), type_, call_.root, call_.comm)
            : real().Allgatherv(memory_.data(), own, type_, output(at), cut.counts.data(),
                                cut.places.data(), type_, call_.comm);
    return of_mpi(error);
  }

  // The sum of this rank's block, which has `own` units on all ranks, comes into memory_.
  int bring(const std::byte* from, const std::vector<int>& counts, const std::vector<int>& places,
            int own) {
    const auto ranks = static_cast<std::size_t>(call_.ranks);
    const std::uint64_t elements = static_cast<std::uint64_t>(own) / units_;
    if (!take(ranks * elements)) return MPI_ERR_NO_MEM;
    const std::vector<int> each(ranks, own);
    std::vector<int> one_after_another(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      one_after_another[rank] = static_cast<int>(rank) * own;
    }
    const int error = real().Alltoallv(from, counts.data(), places.data(), type_, memory_.data(),
                                       each.data(), one_after_another.data(), type_, call_.comm);
    if (error != MPI_SUCCESS) return of_mpi(error);
    return call_.adder.add_up(memory_.data(), call_.ranks, elements);
  }

  // A piece of each block at a time.
  int reduce_scatter() {
    const std::uint64_t ranks = static_cast<std::uint64_t>(call_.ranks);
    const std::uint64_t step = std::max<std::uint64_t>(kMostAtOnce / bytes_ / ranks, 1);
    std::uint64_t longest = 0;
    for (int rank = 0; rank < call_.ranks; ++rank) {
      longest = std::max(longest, call_.count_of(rank));
    }
    // In place the result lies where blocks are that have not been sent yet.
    const std::uint64_t own = call_.count_of(call_.rank);
    const bool keeps = call_.in_place && longest > step;
    Lease kept;
    if (keeps) kept = process().pool.acquire(std::max<std::uint64_t>(own * bytes_, 1));
    if (keeps && !kept) return MPI_ERR_NO_MEM;
    for (std::uint64_t at = 0; at < longest; at += step) {
      if (const int error = reduce_piece(at, step); error != MPI_SUCCESS) return error;
      const std::uint64_t here = at < own ? std::min(step, own - at) : 0;
      std::byte* const to = keeps ? kept.data() + at * bytes_ : output(at);
      if (here == 0) continue;
      if (const int error = give(to, here); error != MPI_SUCCESS) return error;
    }
    if (!keeps || own == 0) return MPI_SUCCESS;
    return tw_memory_copy(output(0), kept.data(), own * bytes_) == TW_OK ? MPI_SUCCESS
                                                                         : MPI_ERR_INTERN;
  }

  // Up to `step` elements of each block, from the element `at` on.
  int reduce_piece(std::uint64_t at, std::uint64_t step) {
    std::vector<int> counts, places;
    std::vector<std::uint64_t> begins;
    std::uint64_t begin = 0, moved = 0;
    for (int rank = 0; rank < call_.ranks; ++rank) {
      const std::uint64_t count = call_.count_of(rank);
      const std::uint64_t few = at < count ? std::min(step, count - at) : 0;
      counts.push_back(static_cast<int>(few * units_));
      begins.push_back(begin + std::min(at, count));
      begin += count;
      moved += few;
    }
    const std::byte* from = input(0);
    const bool is_far = begin * units_ > INT_MAX;
    if (is_far && !(from = packed(counts, begins, moved))) return MPI_ERR_NO_MEM;
    std::uint64_t place = 0;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      places.push_back(static_cast<int>(is_far ? place : begins[rank] * units_));
      place += static_cast<std::uint64_t>(counts[rank]);
    }
    return bring(from, counts, places, counts[static_cast<std::size_t>(call_.rank)]);
  }

  // The pieces one after the other, if an int does not reach them where they lie.
  const std::byte* packed(const std::vector<int>& counts, const std::vector<std::uint64_t>& begins,
                          std::uint64_t moved) {
    packed_ = process().pool.acquire(std::max<std::uint64_t>(moved * bytes_, 1));
    if (!packed_) return nullptr;
    std::byte* to = packed_.data();
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(counts[rank]) / units_ * bytes_;
      if (bytes > 0 && tw_memory_copy(to, input(begins[rank]), bytes) != TW_OK) return nullptr;
      to += bytes;
    }
    return packed_.data();
  }

  const OrderedCall& call_;
  MPI_Datatype type_;            // what travels
  std::uint64_t units_, bytes_;  // of an element
  Lease memory_, packed_;
  std::uint64_t taken_ = 0;
  bool is_raised_ = false;
};

}  // namespace

int run_in_order(const OrderedCall& call) {
  ++process().counters.sums_in_rank_order;
  int error = MPI_SUCCESS;
  bool is_raised = false;
  {
    Run run(call);
    error = run.run();
    is_raised = run.is_raised();
  }
  return error == MPI_SUCCESS || is_raised ? error : raise(call.comm, error);
}

}  // namespace thinwire::mpi
