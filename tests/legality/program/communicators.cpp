#include "program.h"

namespace legality {

Communicators::Communicators(Random random) {
  all_.push_back({MPI_COMM_WORLD, 0, false});
  const int more = random.between(1, 3);
  for (int at = 0; at < more; ++at) {
    const Random own = random.part(static_cast<std::uint64_t>(at));
    const int kind = random.below(3);
    if (kind == 0) {
      One one;
      MUST(MPI_Comm_dup(MPI_COMM_WORLD, &one.comm));
      mark(Feature::dup_);
      all_.push_back(one);
    } else {
      all_.push_back(kind == 1 ? split(own) : subset(own));
    }
  }
}

Communicators::~Communicators() {
  for (One& one : all_)
    if (one.owned && one.comm != MPI_COMM_NULL) MPI_Comm_free(&one.comm);
}

// Up to three of them side by side, their ranks in any order.
Communicators::One Communicators::split(Random random) const {
  One one;
  const int colors = random.between(1, 3);
  Random own = random.part(static_cast<std::uint64_t>(world_rank));
  one.color = own.below(colors);
  const bool out = own.chance(10);
  MUST(MPI_Comm_split(MPI_COMM_WORLD, out ? MPI_UNDEFINED : one.color, own.below(1000), &one.comm));
  mark(Feature::split_);
  return one;
}

// Some of the ranks, in any order.
Communicators::One Communicators::subset(Random random) const {
  One one;
  std::vector<int> ranks = random.permutation(world_size);
  ranks.resize(static_cast<std::size_t>(random.between(1, world_size)));
  MPI_Group world, group;
  int own = MPI_UNDEFINED;
  MUST(MPI_Comm_group(MPI_COMM_WORLD, &world));
  MUST(MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group));
  MUST(MPI_Group_rank(group, &own));
  if (random.chance(70)) {
    if (own != MPI_UNDEFINED)
      MUST(MPI_Comm_create_group(MPI_COMM_WORLD, group, random.below(100), &one.comm));
    mark(Feature::create_group_);
  } else {
    MUST(MPI_Comm_create(MPI_COMM_WORLD, group, &one.comm));
  }
  mark(Feature::subset_);
  MUST(MPI_Group_free(&group));
  MUST(MPI_Group_free(&world));
  return one;
}

std::pair<Group, int> Communicators::pick(Random& random, int phase) const {
  const One& one = random.pick(all_);
  Group group;
  group.comm = one.comm, group.phase = phase;
  if (one.comm != MPI_COMM_NULL) {
    MUST(MPI_Comm_rank(one.comm, &group.rank));
    MUST(MPI_Comm_size(one.comm, &group.size));
  }
  return {group, one.color};
}

}  // namespace legality
