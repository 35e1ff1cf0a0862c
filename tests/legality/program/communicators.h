// A program's communicators: the world's duplicate and parts of it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "group.h"

namespace legality {

class Communicators {
 public:
  explicit Communicators(Random random);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  // Picks the communicator of a phase; also tells which of several of a kind this rank is in. Null
  // if it is in none.
  std::pair<Group, int> pick(Random& random, int phase) const;

 private:
  struct One {
    MPI_Comm comm = MPI_COMM_NULL;
    int color = 0;
    bool owned = true;
  };
  One split(Random random) const;
  One subset(Random random) const;

  std::vector<One> all_;
};

}  // namespace legality
