// Calls that programs leave for MPI_Finalize: a callback of an attribute of MPI_COMM_SELF, in which
// MPI still works (MPI 4.1, 11.2.4).
#include "floats.h"

namespace legality {
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
