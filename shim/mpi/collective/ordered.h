// Reductions of floats in the order of the ranks (reductions=ordered, reductions=exact), for calls
// that are not compressed: the MPI moves what each rank has, and who gets the result adds it up,
// rank 0 first or exactly. Compressed ones are added alike by the core, to the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "shim/mpi/collective/sum_order.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/collective_arguments.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Whether the settings ask for it, of some sums, between MPI_Init and MPI_Finalize.
extern bool sums_may_be_ordered;

// A scan has the sides of an Allreduce: rank r's result is of ranks 0 to r, or to r - 1.
enum class Sum : std::uint8_t {
  kAllreduce,
  kReduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan
};

// Adds elements of one type by one operation.
class Adder {
 public:
  Adder(MPI_Datatype type, MPI_Op op);

  // Whether the order of additions shows in the bits: the operation is MPI's own, on floats.
  bool has_order() const { return has_order_; }

  std::uint64_t element_bytes() const { return element_bytes_; }

  // The type that elements travel as, and how many of it make one. Wide ones are bytes: MPICH 5
  // fails in gathers of their complex ones.
  MPI_Datatype moved_type() const { return is_wide_ ? MPI_BYTE : type_; }
  std::uint64_t units() const { return is_wide_ ? element_bytes_ : 1; }

  // into[i] = into[i] (op) from[i], dense elements in host memory. An MPI error code.
  int add(std::byte* into, const std::byte* from, std::uint64_t count) const;

  // Sums are to be exact. False: it makes them in the order of the ranks, in its own type.
  bool add_exactly();

  // The floats that an element is made of; TW_BYTES: none that a codec takes.
  tw_dtype leaf() const { return is_wide_ ? TW_BYTES : leaf_; }

  // Leaves the sum of the first `blocks` of blocks of `count` elements in the first one; the exact
  // one, if sums are.
  int add_up(std::byte* gathered, int blocks, std::uint64_t count) const;

 private:
  MPI_Datatype type_;
  MPI_Op op_;
  bool has_order_ = false;
  bool is_wide_ = false;    // no codec takes them
  bool is_native_ = false;  // by MPI_Reduce_local
  bool is_exact_ = false;
  tw_reduction reduction_ = TW_SUM;
  tw_dtype leaf_ = TW_BYTES;
  std::uint64_t leaves_ = 1;  // an element
  std::uint64_t element_bytes_ = 0;
};

// One call as this rank has it; valid as long as `arguments`' lists.
struct OrderedCall {
  Sum sum;
  MPI_Comm comm;
  Adder adder;
  int root;
  int rank = 0, ranks = 0;
  const void* input;  // of this rank, in place too
  void* output;
  bool in_place = false;
  Counts counts;  // of blocks in Reduce_scatter, else of the array

  bool has_result() const { return sum != Sum::kReduce || rank == root; }
  // The result is cut into a block a rank.
  bool scatters() const { return sum == Sum::kReduceScatter || sum == Sum::kReduceScatterBlock; }
  // How many ranks' values are in this one's result.
  int summands() const { return sum == Sum::kScan ? rank + 1 : sum == Sum::kExscan ? rank : ranks; }
  std::uint64_t count_of(int block) const {
    return static_cast<std::uint64_t>(counts.count(block));
  }
};

// Whether a call is added in the order of the ranks: by what MPI has equal on all ranks, and by
// what they have published and compared, so that all say the same. `call` is filled if it is.
// `blocks`: the call may wait for the other ranks.
AskedOrder order_of(Sum sum, const CollectiveArguments& arguments, bool blocks,
                    std::optional<OrderedCall>& call);

// The outcome of a call whose order is not known, raised.
int raise_not_known(const CollectiveArguments& arguments, const AskedOrder& asked);

// Runs it; returns its outcome, which is raised. Blocks as the MPI's own call would, and takes
// memory of some 32 MiB at most; in place MPI_Reduce_scatter takes as much as the result besides.
int run_in_order(const OrderedCall& call);

// The two together for a blocking call; nothing: it is to be the MPI's own.
std::optional<int> add_in_order(Sum sum, const CollectiveArguments& arguments);

inline std::optional<int> add_in_order_if_wanted(Sum sum, const CollectiveArguments& arguments) {
  if (!sums_may_be_ordered) [[likely]]
    return std::nullopt;
  return add_in_order(sum, arguments);
}

}  // namespace thinwire::mpi
