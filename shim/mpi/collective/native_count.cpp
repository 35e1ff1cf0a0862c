#include "shim/mpi/collective/native_count.h"

#include <bit>

#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/collective_calls.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {
namespace {

// Who takes part, also between two groups.
struct Place {
  int blocks = 0;  // one for each rank that this one exchanges with
  int own = 0;     // this rank's block; between two groups it has none
  int local = 0;   // ranks of its own group
  bool is_root = false;
  bool is_leaf = true;  // of a rooted call: gives what every rank does, the root of one group too
};

bool find_place(const CollectiveArguments& arguments, Place& place) {
  int inter = 0;
  if (real().Comm_test_inter(arguments.comm, &inter) != MPI_SUCCESS) return false;
  real().Comm_size(arguments.comm, &place.local);
  real().Comm_rank(arguments.comm, &place.own);
  place.blocks = place.local;
  place.is_root = arguments.root == place.own;
  if (inter == 0) return true;
  place.own = 0;
  place.is_root = arguments.root == MPI_ROOT;
  place.is_leaf = arguments.root >= 0;
  MPI_Group group{};
  real().Comm_remote_group(arguments.comm, &group);
  real().Group_size(group, &place.blocks);
  real().Group_free(&group);
  return true;
}

// MPI_IN_PLACE: what stands in the receive buffer for what would have been sent.
Total in_place(const CollectiveArguments& arguments, const Place& place) {
  switch (form_of(arguments.call).operation) {
    case TW_ALLGATHER:
    case TW_GATHER:
      return total_of(arguments.received, place.own, 1);
    case TW_REDUCE_SCATTER:
    case TW_ALLTOALL:
      return total_of(arguments.received, 0, place.local);
    default:
      return total_of(arguments.received, 0, 1);
  }
}

}  // namespace

Total total_of(const Side& side, int first, int blocks) {
  Total total;
  if (blocks == 0) return total;
  if (side.counts.is_missing()) return {false, 0};
  for (int block = first; block < first + blocks; ++block) {
    const std::int64_t count = side.counts.count(block);
    if (count < 0 || (count > 0 && side.type_of(block) == MPI_DATATYPE_NULL)) return {false, 0};
    total.bytes += message_bytes(count, side.type_of(block));
    if (side.counts.is_list() || side.types != nullptr) continue;
    total.bytes *= static_cast<std::uint64_t>(blocks);
    break;
  }
  return total;
}

std::uint64_t bytes_given(const CollectiveArguments& arguments) {
  const Form& form = form_of(arguments.call);
  Place place;
  if (arguments.comm == MPI_COMM_NULL || !find_place(arguments, place)) return 0;
  if (form.operation == TW_BCAST)
    return place.is_root ? total_of(arguments.received, 0, 1).bytes : 0;
  const bool gathers = form.received_at == Where::kAtRoot;
  if (form.sent_at == Where::kAtRoot ? !place.is_root : gathers && !place.is_leaf) return 0;
  if (arguments.sent.buffer == MPI_IN_PLACE) return in_place(arguments, place).bytes;
  if (form.sent == Blocks::kOne) return total_of(arguments.sent, 0, 1).bytes;
  const bool scatters = form.operation == TW_REDUCE_SCATTER;
  return total_of(arguments.sent, 0, scatters ? place.local : place.blocks).bytes;
}

KindKey kind_key_of(const Part& part) {
  return {.operation = part.form->operation,
          .dtype = part.leaf,
          .size_bits = static_cast<std::uint32_t>(std::bit_width(part.bytes)),
          .ranks = part.ranks,
          .codec = part.codec};
}

void count_native(NativeReason why, const CollectiveArguments& arguments, const Part& part) {
  const bool may_be_asked = wants_native_bytes() && why != NativeReason::kArguments;
  observe_native(why, arguments, may_be_asked ? bytes_given(arguments) : 0, kind_key_of(part),
                 part.planned);
}

}  // namespace thinwire::mpi
