// Communicators that are freed, after a few calls or at the end, and callbacks that still use them.
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

// Calls that programs leave for MPI_Finalize: a callback of an attribute of MPI_COMM_SELF, in which
// MPI still works (MPI 4.1, 11.2.4).
namespace {

std::vector<std::uint64_t> left_for_the_end;

int do_what_is_left(MPI_Comm, int, void*, void*) {
  Group world;
  world.comm = MPI_COMM_WORLD, world.rank = world_rank, world.size = world_size;
  Record record;
  for (std::uint64_t seed : left_for_the_end) {
    place.seed = seed;
    Random random = Random(seed).part(51);
    const std::uint64_t key = random.next();
    const int count = random.between(16, 30000);
    std::vector<float> out = floats_of(key + static_cast<std::uint64_t>(world_rank), count);
    std::vector<float> in(out.size());
    MUST(MPI_Sendrecv(out.data(), count, MPI_FLOAT, next_of(world), 1, in.data(), count, MPI_FLOAT,
                      last_of(world), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_floats(in.data(), key + static_cast<std::uint64_t>(last_of(world)), count,
                 "a message while MPI ends", record);
    MUST(MPI_Bcast(out.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD));
    check_floats(out.data(), key, count, "a broadcast while MPI ends", record);
  }
  return MPI_SUCCESS;
}

}  // namespace

// Leaves the seed's calls for the end. A failure then is reported for the seed, whose line has been
// printed long before.
void leave_for_the_end(std::uint64_t seed) {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval == MPI_KEYVAL_INVALID) {
    MUST(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, do_what_is_left, &keyval, nullptr));
    MUST(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr));
  }
  left_for_the_end.push_back(seed);
  mark(Feature::left_for_the_end_);
}

}  // namespace legality
