// Ranks as processes: one that is killed, ends early, or forks.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
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
int run_rank(int rank, const Channels* ids, const std::function<int(CommunicatorRef)>& work,
             const Options& options = {}) {
  Id id = bare_id();
  Helper& helper = process_helper(options);
  if (rank == 0) {
    helper.stamp(id);
    for (int other = 1; other < kRanks; ++other) ids[other].put(id);
  } else {
    id = ids[rank].take<Id>();
  }
  const CommunicatorRef comm = helper.open(id, rank, kRanks, {});
  // Another rank may have ended by the time this one looks.
  const bool told = eventually([&] {
    const State state = comm->membership().state;
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
        return reaches(comm, State::kBroken) ? 0 : 20;
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

// exit() with a communicator that lives, from main() while the helper works: no collective can be
// made any more, and messages between the others may be.
TEST(Processes, EndWithCommunicatorsAlive) {
  Channels ids[kRanks];
  std::vector<pid_t> children;
  const auto begin = std::chrono::steady_clock::now();
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start([&, rank] {
      return run_rank(rank, ids, [&](CommunicatorRef comm) {
        new CommunicatorRef(comm);
        comm->collectives().offer(1, {5, 0});
        if (rank == 1) {
          std::this_thread::sleep_for(1s);
          return comm->state() == State::kReady ? 0 : 20;
        }
        leave_process_helper();
        return 0;
      });
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

// A rank at its limit of file descriptors cannot open pairs: their messages stay raw, and nothing
// else. What does not fit its slot goes along the tree.
TEST(Processes, AtALimitOfDescriptorsKeepPairsRaw) {
  Channels ids[kRanks], done;
  std::vector<pid_t> children;
  Options options;
  options.connecting = 300ms;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start([&, rank] {
      return run_rank(
          rank, ids,
          [&](CommunicatorRef comm) {
            if (rank == 1) {
              const rlimit few{8, 8};
              setrlimit(RLIMIT_NOFILE, &few);
              Channel& sends = comm->to(2);
              sends.offer(7, {100, 0});
              const bool raw = eventually([&] {
                const Answer answer = sends.value(3, 7);
                return answer.outcome == Outcome::kKnown && answer.value.reason == kUnreachable;
              });
              if (!raw) return 20;
              const std::vector<std::byte> bytes(700'000, std::byte{5});
              comm->give({1, false, 4, 0}, 2, bytes.size(), bytes);
            }
            std::vector<std::byte> got(700'000);
            for (std::size_t at = 0; rank == 2 && at < got.size();) {
              const Taken taken = comm->take({1, false, 4, 0}, std::span(got).subspan(at), 20s);
              if (taken.outcome != Outcome::kKnown || taken.bytes == 0) return 30;
              at += taken.bytes;
            }
            if (rank == 2 && got.back() != std::byte{5}) return 40;
            comm->collectives().offer(1, {100, 0});
            std::uint64_t call = 0;
            const bool agreed = eventually(
                [&] { return comm->collectives().value(call++, 1).value.capacity != 0; });
            if (comm->state() != State::kReady) return 50;
            // Others may be some calls after.
            leave_process_helper();
            return agreed ? 0 : 60;
          },
          options);
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
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
    if (!reaches(first, State::kReady) || !reaches(second, State::kReady)) return 2;
    const pid_t child = start([&] {
      // The communicators that the child inherits do nothing, and do not hang.
      first->collectives().offer(1, {1, 0});
      if (first->collectives().value(1, 1).outcome != Outcome::kKnown) return 1;
      first->close();
      leave_process_helper();
      Helper& own = process_helper({});
      Id again = bare_id();
      if (&own == &helper || !own.stamp(again)) return 2;
      const CommunicatorRef one = own.open(again, 0, 2, {});
      const CommunicatorRef two = own.open(again, 1, 2, {});
      return reaches(one, State::kReady) && reaches(two, State::kReady) ? 0 : 3;
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
