#include "shim/mpi/collective/ordered.h"

#include <algorithm>
#include <atomic>

#include "shim/mpi/collective/part.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

bool sums_may_be_ordered = false;

namespace {

bool is_valid(const OrderedCall& call) {
  if (!call.scatters()) return call.counts.count(0) > 0;
  std::int64_t total = 0;
  for (int block = 0; block < call.ranks; ++block) {
    if (call.counts.count(block) < 0) return false;
    total += call.counts.count(block);
  }
  return total > 0;
}

// Buffers that the MPI refuses on the rank that has them, before it sends anything.
bool buffers_are_wrong(const CollectiveArguments& arguments, const OrderedCall& call) {
  const void* const sent = arguments.sent.buffer;
  const void* const received = arguments.received.buffer;
  if (received == MPI_IN_PLACE && call.has_result()) return true;
  if (call.in_place && call.sum == Sum::kReduce && call.rank != call.root) return true;
  if (call.input == nullptr) return true;
  const bool writes = call.has_result() && call.summands() > 0 &&
                      (!call.scatters() || call.count_of(call.rank) > 0);
  return writes && (received == nullptr || (!call.in_place && sent == received));
}

// The bytes of the whole array, or of all blocks.
std::uint64_t bytes_of(const OrderedCall& call) {
  std::uint64_t elements = 0;
  for (int block = 0; block < (call.scatters() ? call.ranks : 1); ++block)
    elements += call.count_of(block);
  return elements * call.adder.element_bytes();
}

AskedSum as_asked(const OrderedCall& call, CollectiveCall as, bool blocks) {
  return {form_of(as).operation, call.adder.leaf(), bytes_of(call), blocks};
}

}  // namespace

// Types and operations that do not go together are for the MPI to refuse, and so are derived types.
Adder::Adder(MPI_Datatype type, MPI_Op op) : type_(type), op_(op) {
  const auto reduction = reduction_of(op);
  if (!reduction || type == MPI_DATATYPE_NULL || is_pair_to_compare(type)) return;
  reduction_ = *reduction;
  element_bytes_ = message_bytes(1, type);
  const bool compares = reduction_ == TW_MINIMUM || reduction_ == TW_MAXIMUM;
  is_wide_ = is_wide_real(type) || is_wide_complex(type);
  if (is_wide_) {
    // Open MPI 5 has handles of such types, of no bytes, that it does not support.
    has_order_ = is_native_ = element_bytes_ > 0 && !(compares && is_wide_complex(type));
    return;
  }
  if (type != MPI_FLOAT && type != MPI_DOUBLE && is_derived(type)) {
    const int combiner = combiner_of(type);
    if (combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX) return;
  }
  const TypeFacts facts = type_facts(type);
  if (facts.values != Values::kReals && facts.values != Values::kPairs) return;
  leaf_ = facts.leaf;
  leaves_ = facts.values == Values::kPairs ? 2 : 1;
  has_order_ = element_bytes_ > 0 && !(compares && leaves_ == 2);
  is_native_ = leaves_ == 2 && reduction_ != TW_SUM;
}

int Adder::add(std::byte* into, const std::byte* from, std::uint64_t count) const {
  if (!is_native_) {
    const tw_status status = tw_values_reduce(reduction_, leaf_, count * leaves_, into, from);
    return status == TW_OK ? MPI_SUCCESS : MPI_ERR_INTERN;
  }
  using Reduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op);
  static const auto reduce_local = reinterpret_cast<Reduce>(native_call("PMPI_Reduce_local"));
  constexpr std::uint64_t kMost = 1 << 24;
  for (std::uint64_t at = 0; at < count; at += kMost) {
    const auto few = static_cast<int>(std::min(kMost, count - at));
    const std::uint64_t place = at * element_bytes_;
    const int error = reduce_local(from + place, into + place, few, type_, op_);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

bool Adder::add_exactly() {
  is_exact_ = reduction_ == TW_SUM && !is_native_;
  return is_exact_ || reduction_ != TW_SUM;
}

int Adder::add_up(std::byte* gathered, int blocks, std::uint64_t count) const {
  if (is_exact_) {
    const tw_status status =
        tw_values_add_exactly(leaf_, count * leaves_, static_cast<std::uint32_t>(blocks), gathered,
                              count * element_bytes_, gathered);
    return status == TW_OK ? MPI_SUCCESS : MPI_ERR_INTERN;
  }
  for (int block = 1; block < blocks; ++block) {
    const std::byte* const from =
        gathered + static_cast<std::uint64_t>(block) * count * element_bytes_;
    if (const int error = add(gathered, from, count); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

AskedOrder order_of(Sum sum, const CollectiveArguments& arguments, bool blocks,
                    std::optional<OrderedCall>& call) {
  if (arguments.comm == MPI_COMM_NULL) return {};
  const Adder adder(arguments.sent.type, arguments.op);
  if (!adder.has_order()) return {};
  int inter = 0;
  if (real().Comm_test_inter(arguments.comm, &inter) != MPI_SUCCESS || inter != 0) {
    return {};
  }
  const bool in_place = arguments.sent.buffer == MPI_IN_PLACE;
  OrderedCall made{.sum = sum,
                   .comm = arguments.comm,
                   .adder = adder,
                   .root = arguments.root,
                   .input = in_place ? arguments.received.buffer : arguments.sent.buffer,
                   .output = const_cast<void*>(arguments.received.buffer),
                   .in_place = in_place,
                   .counts = arguments.sent.counts};
  real().Comm_rank(made.comm, &made.rank);
  real().Comm_size(made.comm, &made.ranks);
  if (made.ranks < 2 || made.counts.is_missing() || !is_valid(made)) return {};
  if (sum == Sum::kReduce && (made.root < 0 || made.root >= made.ranks)) return {};
  if (buffers_are_wrong(arguments, made)) return {};
  const AskedOrder asked = order_on(made.comm, as_asked(made, arguments.call, blocks));
  if (asked.is_exact && !made.adder.add_exactly()) {
    static std::atomic<bool> said{false};
    warn_once(made.rank, said,
              "reductions=exact: a sum of long double is added in the order of the ranks, with a "
              "rounding at each addition: exact ones are of float and double");
  }
  if (asked.order == Order::kOfRanks) call = made;
  return asked;
}

int raise_not_known(const CollectiveArguments& arguments, const AskedOrder& asked) {
  return asked.error == MPI_SUCCESS ? raise(arguments.comm, MPI_ERR_OTHER) : asked.error;
}

std::optional<int> add_in_order(Sum sum, const CollectiveArguments& arguments) {
  std::optional<OrderedCall> call;
  const AskedOrder asked = order_of(sum, arguments, true, call);
  if (asked.order == Order::kNotKnown) return raise_not_known(arguments, asked);
  if (!call) return std::nullopt;
  return run_in_order(*call);
}

}  // namespace thinwire::mpi
