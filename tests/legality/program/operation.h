// A collective under way on this rank.
#pragma once

#include <string>

#include "collective.h"

namespace legality {

class Operation {
 public:
  Operation(const Group& group, const Drawn& drawn, Random own);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const Drawn& drawn() const { return drawn_; }
  MPI_Request& request() { return request_; }
  void renew(int round);  // the buffers, for the next call
  void call();            // blocking to its end; persistent its initialisation
  void check(Record& record);

 private:
  std::string name_of(const char* what) const;
  int steps(int sender, int receiver) const;
  std::vector<int> from_all(int receiver) const;
  std::vector<int> to_all(int sender) const;
  void prepare_moves(Random& own);
  void prepare_reduction(Random& own);
  void fill_moves();
  void fill_reduction();
  void give_back_early();
  void compare_ranks();
  bool is_root() const { return group_.rank == drawn_.root; }

  Group group_;
  Drawn drawn_;
  Arguments with_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace legality
