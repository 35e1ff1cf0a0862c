// Communicators that are made for a few calls and freed, some with a callback that still uses them.
#include "floats.h"

namespace legality {
namespace {

struct Farewell {
  Group group;
  std::uint64_t key = 0;
  int count = 0;
  Record record;
};

void use_once(const Group& group, std::uint64_t key, int count, Record& record) {
  std::vector<float> all(static_cast<std::size_t>(count * group.size));
  const auto own = static_cast<std::uint64_t>(group.rank);
  const std::vector<float> out = floats_of(key + own, count);
  MUST(MPI_Allgather(out.data(), count, MPI_FLOAT, all.data(), count, MPI_FLOAT, group.comm));
  for (int rank = 0; rank < group.size; ++rank)
    check_floats(&all[static_cast<std::size_t>(rank * count)],
                 key + static_cast<std::uint64_t>(rank), count, "a short-lived gather", record);
  MUST(MPI_Sendrecv(out.data(), count, MPI_FLOAT, next_of(group), 1, all.data(), count, MPI_FLOAT,
                    last_of(group), 1, group.comm, MPI_STATUS_IGNORE));
  check_floats(all.data(), key + static_cast<std::uint64_t>(last_of(group)), count,
               "a short-lived message", record);
}

// Inside MPI_Comm_free, on all ranks: the communicator is whole until this has returned.
int say_farewell(MPI_Comm comm, int, void* value, void*) {
  Farewell& last = *static_cast<Farewell*>(value);
  last.group.comm = comm;
  use_once(last.group, last.key, last.count, last.record);
  mark(Feature::used_while_freed_);
  return MPI_SUCCESS;
}

MPI_Comm make_another(const Group& group, Random& random) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int way = random.below(3), colors = random.between(1, 2);
  if (way == 0) MUST(MPI_Comm_dup(group.comm, &comm));
  if (way == 1) MUST(MPI_Comm_split(group.comm, group.rank % colors, -group.rank, &comm));
  if (way == 2) MUST(MPI_Comm_split(group.comm, 0, group.rank, &comm));
  return comm;
}

}  // namespace

Record run_short_lived(const Group& group, Random random) {
  Record record;
  const int turns = random.between(2, 8);
  for (int turn = 0; turn < turns; ++turn) {
    Random own = random.part(static_cast<std::uint64_t>(turn));
    const std::uint64_t key = own.next();
    const int count = own.between(16, 6000);
    const bool used = own.chance(80), calls_back = own.chance(30);
    if (dropped(group.phase, turn)) continue;
    Farewell last;
    Group made = group;
    made.comm = make_another(group, own);
    MUST(MPI_Comm_rank(made.comm, &made.rank));
    MUST(MPI_Comm_size(made.comm, &made.size));
    mark(Feature::made_and_freed_);
    if (used) use_once(made, key, count, record);
    int keyval = MPI_KEYVAL_INVALID;
    if (calls_back && admit(Feature::used_while_freed_)) {
      last.group = made, last.key = key + 7, last.count = count;
      MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_farewell, &keyval, nullptr));
      MUST(MPI_Comm_set_attr(made.comm, keyval, &last));
    }
    MUST(MPI_Comm_free(&made.comm));
    if (keyval != MPI_KEYVAL_INVALID) MUST(MPI_Comm_free_keyval(&keyval));
    record.add(last.record);
  }
  return record;
}

}  // namespace legality
