// Ranks as processes: one that is killed, ends early, or forks.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agree/job.h"

namespace {

using namespace job;

// A child that runs `work` and exits with what it returns; nothing of the test's runs in it.
pid_t start(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(work());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Channels {
 public:
  Channels() { (void)!pipe(ends_); }
  ~Channels() {
    close(ends_[0]);
    close(ends_[1]);
  }
  template <typename T>
  void put(const T& value) const {
    (void)!write(ends_[1], &value, sizeof value);
  }
  template <typename T>
  T take() const {
    T value{};
    (void)!read(ends_[0], &value, sizeof value);
    return value;
  }

 private:
  int ends_[2]{};
};

constexpr int kRanks = 3;

// Rank 0's process makes the id; the others get it by pipes.
int run_rank(int rank, const Channels* ids, const std::function<int(CommunicatorRef)>& work) {
  Id id = bare_id();
  Helper& helper = process_helper({});
  if (rank == 0) {
    helper.stamp(id);
    for (int other = 1; other < kRanks; ++other) ids[other].put(id);
  } else {
    id = ids[rank].take<Id>();
  }
  const CommunicatorRef comm = helper.open(id, rank, kRanks, {});
  // Another rank may have ended by the time this one looks.
  const bool told = eventually([&] {
    const State state = comm->presence().state;
    return state == State::kReady || state == State::kBroken;
  });
  return told ? work(comm) : 10;
}

TEST(Processes, OneThatIsKilledIsNoticedAlthoughItHasForked) {
  Channels ids[kRanks], forked;
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start([&, rank] {
      return run_rank(rank, ids, [&](CommunicatorRef comm) {
        if (rank == 2) {
          // As a worker that loads data: it lives on when its parent is killed.
          forked.put(start([] { return pause(); }));
          pause();
        }
        return settles(comm, State::kBroken) ? 0 : 20;
      });
    }));
  }
  const pid_t worker = forked.take<pid_t>();
  std::this_thread::sleep_for(100ms);
  kill(children[2], SIGKILL);
  EXPECT_EQ(status_of(children[2]), -SIGKILL);
  EXPECT_EQ(status_of(children[0]), 0);
  EXPECT_EQ(status_of(children[1]), 0);
  EXPECT_EQ(kill(worker, SIGKILL), 0) << "it was still there";
}

// exit() with a communicator that lives, from main() while the helper works.
TEST(Processes, EndWithCommunicatorsAlive) {
  Channels ids[kRanks];
  std::vector<pid_t> children;
  const auto begin = std::chrono::steady_clock::now();
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start([&, rank] {
      return run_rank(rank, ids, [&](CommunicatorRef comm) {
        new CommunicatorRef(comm);
        comm->collectives().offer(1, {5, 0});
        if (rank == 1) return settles(comm, State::kBroken) ? 0 : 20;
        leave_process_helper();
        return 0;
      });
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Processes, AForkedChildHasAHelperOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer takes no threads in a forked child";
#endif
  const pid_t parent = start([] {
    Helper& helper = process_helper({});
    Id id = bare_id();
    if (!helper.stamp(id)) return 1;
    const CommunicatorRef first = helper.open(id, 0, 2, {});
    const CommunicatorRef second = helper.open(id, 1, 2, {});
    if (!settles(first, State::kReady) || !settles(second, State::kReady)) return 2;
    const pid_t child = start([&] {
      // What it has of the parent does nothing, and does not hang.
      first->collectives().offer(1, {1, 0});
      if (first->collectives().value(1, 1).outcome != Outcome::kKnown) return 1;
      first->close();
      leave_process_helper();
      Helper& own = process_helper({});
      Id again = bare_id();
      if (&own == &helper || !own.stamp(again)) return 2;
      const CommunicatorRef one = own.open(again, 0, 2, {});
      const CommunicatorRef two = own.open(again, 1, 2, {});
      return settles(one, State::kReady) && settles(two, State::kReady) ? 0 : 3;
    });
    if (status_of(child) != 0) return 3;
    // The parent's goes on.
    first->collectives().offer(1, {100, 0});
    second->collectives().offer(1, {100, 0});
    std::uint64_t call = 2;
    const bool agreed = eventually([&] {
      second->collectives().value(call, 1);
      return first->collectives().value(call++, 1).value.capacity != 0;
    });
    return agreed ? 0 : 4;
  });
  EXPECT_EQ(status_of(parent), 0);
}

}  // namespace
