#include "completion.h"

#include <sched.h>

#include "run.h"

namespace legality {
namespace {

struct Open {
  std::vector<MPI_Request>& requests;
  std::vector<MPI_Status>& statuses;
  std::vector<char> done;
  std::vector<int> indices;
  std::vector<MPI_Status> some;
  bool ignored;

  int count() const { return static_cast<int>(requests.size()); }
  MPI_Status* one(int at) {
    return ignored ? MPI_STATUS_IGNORE : &statuses[static_cast<std::size_t>(at)];
  }
  void set(int at, const MPI_Status& status) {
    if (done[static_cast<std::size_t>(at)]) complain("a request was completed twice");
    done[static_cast<std::size_t>(at)] = 1;
    if (!ignored) statuses[static_cast<std::size_t>(at)] = status;
  }
};

void wait_each(Random& random, Open& open) {
  for (int at : random.permutation(open.count()))
    MUST(MPI_Wait(&open.requests[static_cast<std::size_t>(at)], open.one(at)));
  mark(Feature::wait_);
}

void wait_all(Random&, Open& open) {
  MUST(MPI_Waitall(open.count(), open.requests.data(),
                   open.ignored ? MPI_STATUSES_IGNORE : open.statuses.data()));
  mark(Feature::waitall_);
}

void wait_any(Random&, Open& open) {
  for (int index = 0;;) {
    MPI_Status status{};
    MUST(MPI_Waitany(open.count(), open.requests.data(), &index,
                     open.ignored ? MPI_STATUS_IGNORE : &status));
    if (index == MPI_UNDEFINED) break;
    open.set(index, status);
  }
  mark(Feature::waitany_);
}

void take_some(Open& open, int count) {
  for (int at = 0; at < count; ++at)
    open.set(open.indices[static_cast<std::size_t>(at)], open.some[static_cast<std::size_t>(at)]);
}

void wait_some(Random&, Open& open) {
  for (int count = 0;;) {
    MUST(MPI_Waitsome(open.count(), open.requests.data(), &count, open.indices.data(),
                      open.ignored ? MPI_STATUSES_IGNORE : open.some.data()));
    if (count == MPI_UNDEFINED) break;
    take_some(open, count);
  }
  mark(Feature::waitsome_);
}

void test_each(Random& random, Open& open) {
  for (int at : random.permutation(open.count())) {
    for (int flag = 0; !flag; sched_yield())
      MUST(MPI_Test(&open.requests[static_cast<std::size_t>(at)], &flag, open.one(at)));
  }
  mark(Feature::test_);
}

void test_all(Random&, Open& open) {
  for (int flag = 0; !flag; sched_yield()) {
    MUST(MPI_Testall(open.count(), open.requests.data(), &flag,
                     open.ignored ? MPI_STATUSES_IGNORE : open.statuses.data()));
  }
  mark(Feature::testall_);
}

void test_any(Random&, Open& open) {
  for (int index = 0, flag = 0;; sched_yield()) {
    MPI_Status status{};
    MUST(MPI_Testany(open.count(), open.requests.data(), &index, &flag,
                     open.ignored ? MPI_STATUS_IGNORE : &status));
    if (flag && index == MPI_UNDEFINED) break;
    if (flag) open.set(index, status);
  }
  mark(Feature::testany_);
}

void test_some(Random&, Open& open) {
  for (int count = 0;; sched_yield()) {
    MUST(MPI_Testsome(open.count(), open.requests.data(), &count, open.indices.data(),
                      open.ignored ? MPI_STATUSES_IGNORE : open.some.data()));
    if (count == MPI_UNDEFINED) break;
    take_some(open, count);
  }
  mark(Feature::testsome_);
}

// Looks first, which must not complete anything.
void look_and_wait(Random&, Open& open) {
  for (int at = 0; at < open.count(); ++at) {
    for (int flag = 0; !flag; sched_yield())
      MUST(
          MPI_Request_get_status(open.requests[static_cast<std::size_t>(at)], &flag, open.one(at)));
    MUST(MPI_Wait(&open.requests[static_cast<std::size_t>(at)], open.one(at)));
  }
  mark(Feature::get_status_);
}

using Way = void (*)(Random&, Open&);

// Some MPIs get some calls wrong for what is persistent.
bool may(Way way, Among among) {
  if (among == Among::kPlain) return true;
  if (way == look_and_wait)
    return among == Among::kPersistentCollectives || admit(Feature::persistent_looked_at_);
  if (among == Among::kPersistent) return true;
  if (way == test_all) return admit(Feature::persistent_collective_by_testall_);
  const bool some = way == wait_any || way == wait_some || way == test_any || way == test_some;
  return !some || admit(Feature::persistent_collective_by_some_);
}

}  // namespace

bool complete(Random& random, std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
              bool wanted, Among among) {
  static const std::vector<Way> ways{wait_each, wait_all, wait_any,  wait_some,    test_each,
                                     test_all,  test_any, test_some, look_and_wait};
  const bool ignored = random.chance(20) && !wanted;
  Way way = random.pick(ways);
  statuses.resize(requests.size());
  if (requests.empty()) return !ignored;
  if (!may(way, among)) way = wait_all;
  Open open{requests,
            statuses,
            std::vector<char>(requests.size()),
            std::vector<int>(requests.size()),
            std::vector<MPI_Status>(requests.size()),
            ignored};
  if (ignored) mark(Feature::status_ignored_);
  way(random, open);
  return !ignored;
}

}  // namespace legality
