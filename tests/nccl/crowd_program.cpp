// A job of some hundred ranks, each a process with few file descriptors: a communicator of all, a
// split along each side of a mesh, collectives in each, an all-to-all by messages, and messages
// round the ring of all. Checks every value. Prints how long the steps take and what a rank has of
// descriptors, threads and memory, the most of all ranks.
//
// crowd_program FILE LIMIT CALLS ROUNDS STEPS A B ...   FILE: for ids; LIMIT: on descriptors;
// CALLS: in each
//     communicator; ROUNDS: of the all-to-all; STEPS: on the ring; the mesh's sides
//
// IDS=N: in the place of the splits N communicators of all by ids of their own. Fails if a value
// is wrong, a rank keeps more than 64 descriptors, or, under the library, a communicator is not
// there after 120 seconds.
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "agree/pipe.h"
#include "crowd.h"
#include "ranks.h"

namespace {

using namespace crowd;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kCount = 512;  // elements of a block, 2 KiB
constexpr int kAllowed = 64;         // descriptors
constexpr int kPatience = 120;       // seconds

struct Asked {
  int limit = 0, calls = 0, rounds = 0, steps = 0, ids = 0, ranks = 1;
  std::vector<int> sides;
};

// ---- one rank ----

float value(int from, int to, int call, std::size_t at) {
  const std::size_t wave = (at / 16 + static_cast<std::size_t>(call * 7 + to)) % 97;
  return static_cast<float>(from % 61) + static_cast<float>(wave) / 64;
}

void fill(float* block, int from, int to, int call) {
  for (std::size_t at = 0; at < kCount; ++at) block[at] = value(from, to, call, at);
}

bool is_right(const float* block, int from, int to, int call) {
  for (std::size_t at = 0; at < kCount; ++at) {
    if (block[at] != value(from, to, call, at)) return false;
  }
  return true;
}

class Job {
 public:
  Job(const Asked& asked, int rank) : asked_(asked), rank_(rank) { cudaStreamCreate(&stream_); }

  Found run() {
    found_.before = descriptors_now();
    timed(found_.world, [&] { world_ = by_id(0); });
    comms_ = {world_};
    timed(found_.parts, [&] { make_parts(); });
    timed(found_.there, [&] { wait_for_all(); });
    timed(found_.calls, [&] {
      for (int call = 0; call < asked_.calls; ++call) call_in_each(call);
    });
    timed(found_.messages, [&] {
      for (int round = 0; round < asked_.rounds; ++round) exchange_with_all(round);
    });
    timed(found_.ring, [&] {
      for (int step = 0; step < asked_.steps; ++step) pass_on(step);
    });
    timed(found_.idle, [&] { wait_until_idle(); });
    count();
    // Nobody ends before the others have counted.
    agree_on(0);
    timed(found_.ends, [&] {
      for (const ncclComm_t each : comms_) ncclCommDestroy(each);
    });
    return found_;
  }

 private:
  template <typename Work>
  void timed(double& seconds, Work work) {
    const auto begin = Clock::now();
    work();
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    found_.most = std::max(found_.most, descriptors_now());
  }

  void expect(bool holds, const char* what) {
    if (holds || ++found_.wrong > 3) return;
    std::fprintf(stderr, "rank %d: wrong: %s\n", rank_, what);
  }

  ncclComm_t by_id(int number) {
    const std::string path = std::string(ranks::file()) + "." + std::to_string(number);
    ncclComm_t made = nullptr;
    const ncclUniqueId id = ranks::new_id_by_file(rank_, path);
    expect(ncclCommInitRank(&made, asked_.ranks, id, rank_) == ncclSuccess, "a communicator");
    return made;
  }

  // Each of those that share this rank's places along the other sides.
  void make_parts() {
    for (int number = 1; number <= asked_.ids; ++number) comms_.push_back(by_id(number));
    int stride = 1;
    for (const int side : asked_.sides) {
      const int along = rank_ / stride % side;
      ncclComm_t made = nullptr;
      const bool split = asked_.ids == 0;
      if (split) {
        const int color = rank_ - along * stride;
        expect(ncclCommSplit(world_, color, along, &made, nullptr) == ncclSuccess, "a split");
        comms_.push_back(made);
      }
      stride *= side;
    }
  }

  // The largest of what ranks give.
  int agree_on(int own) {
    int most = 0;
    ncclAllReduce(&own, &most, 1, ncclInt32, ncclMax, world_, stream_);
    cudaStreamSynchronize(stream_);
    return most;
  }

  // The number of communicators whose ranks have not all been found.
  int missing() const { return static_cast<int>(comms_.size()) - found_.present; }

  void wait_for_all() {
    if (report().empty()) return;
    const auto end = Clock::now() + std::chrono::seconds(kPatience);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      found_.present = present_in(report());
    } while (missing() > 0 && Clock::now() < end);
    expect(missing() == 0, "a communicator is not there");
  }

  void call_in_each(int call) {
    for (const ncclComm_t comm : comms_) {
      int ranks = 0, own = 0;
      ncclCommCount(comm, &ranks);
      ncclCommUserRank(comm, &own);
      std::vector<float> mine(kCount), sums(kCount), all(kCount * static_cast<std::size_t>(ranks));
      fill(mine.data(), own, 0, call);
      ncclAllGather(mine.data(), all.data(), kCount, ncclFloat32, comm, stream_);
      const std::vector<float> ones(kCount, 1);
      ncclAllReduce(ones.data(), sums.data(), kCount, ncclFloat32, ncclSum, comm, stream_);
      cudaStreamSynchronize(stream_);
      for (int rank = 0; rank < ranks; ++rank) {
        const float* const block = all.data() + kCount * static_cast<std::size_t>(rank);
        expect(is_right(block, rank, 0, call), "an AllGather");
      }
      const auto sum = static_cast<float>(ranks);
      expect(std::ranges::all_of(sums, [&](float each) { return each == sum; }), "an AllReduce");
    }
  }

  void exchange_with_all(int round) {
    const auto others = static_cast<std::size_t>(asked_.ranks);
    std::vector<float> out(kCount * others), in(kCount * others);
    for (int peer = 0; peer < asked_.ranks; ++peer) {
      fill(out.data() + kCount * static_cast<std::size_t>(peer), rank_, peer, round);
    }
    ncclGroupStart();
    for (int peer = 0; peer < asked_.ranks; ++peer) {
      const std::size_t at = kCount * static_cast<std::size_t>(peer);
      ncclSend(out.data() + at, kCount, ncclFloat32, peer, world_, stream_);
      ncclRecv(in.data() + at, kCount, ncclFloat32, peer, world_, stream_);
    }
    expect(ncclGroupEnd() == ncclSuccess, "a group");
    cudaStreamSynchronize(stream_);
    for (int peer = 0; peer < asked_.ranks; ++peer) {
      const float* const block = in.data() + kCount * static_cast<std::size_t>(peer);
      expect(is_right(block, peer, rank_, round), "an all-to-all");
    }
  }

  void pass_on(int step) {
    const int next = (rank_ + 1) % asked_.ranks;
    const int before = (rank_ + asked_.ranks - 1) % asked_.ranks;
    std::vector<float> out(kCount), in(kCount);
    fill(out.data(), rank_, next, step);
    ncclGroupStart();
    ncclSend(out.data(), kCount, ncclFloat32, next, world_, stream_);
    ncclRecv(in.data(), kCount, ncclFloat32, before, world_, stream_);
    ncclGroupEnd();
    cudaStreamSynchronize(stream_);
    expect(is_right(in.data(), before, rank_, step), "a message");
  }

  // Connections for messages end some time after the last of them.
  void wait_until_idle() {
    const auto end = Clock::now() + std::chrono::seconds(kPatience);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      found_.at_end = descriptors_now();
    } while (found_.at_end - found_.before > kAllowed && Clock::now() < end);
    expect(found_.at_end - found_.before <= kAllowed, "descriptors");
  }

  void count() {
    found_.threads = figure_of("status", "Threads:");
    found_.kibibytes = figure_of("status", "RssAnon:");
    found_.own =
        figure_of("smaps_rollup", "Private_Clean:") + figure_of("smaps_rollup", "Private_Dirty:");
    found_.share = figure_of("smaps_rollup", "Pss:");
    const std::string text = report();
    found_.compressed_calls = compressed_in(text, "AllGather");
    found_.compressed_messages = compressed_in(text, "Send");
  }

  const Asked& asked_;
  const int rank_;
  cudaStream_t stream_{};
  ncclComm_t world_ = nullptr;
  std::vector<ncclComm_t> comms_;
  Found found_;
};

// ---- all of them ----

pid_t start(int rank, const job::Pipe& results, char** words) {
  const pid_t started = fork();
  if (started != 0) return started;
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("RESULTS", std::to_string(results.ends[1]).c_str(), 1);
  execv("/proc/self/exe", words);
  std::_Exit(2);
}

int run_all(const Asked& asked, char** words) {
  const job::Pipe results;
  for (int rank = 0; rank < asked.ranks; ++rank) {
    if (start(rank, results, words) < 0) return 2;
  }
  close(results.ends[1]);
  Found all;
  int finished = 0;
  for (Found one; read(results.ends[0], &one, sizeof one) == sizeof one; ++finished) {
    add(all, one, finished == 0);
  }
  const auto told = Clock::now();
  bool good = finished == asked.ranks && all.wrong == 0;
  for (int status = 0; wait(&status) > 0;) good = good && status == 0;
  all.ends += std::chrono::duration<double>(Clock::now() - told).count();
  print(all, finished);
  return good ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 7) return 2;
  setenv("RANKS_FILE", words[1], 1);
  Asked asked;
  int* const figures[] = {&asked.limit, &asked.calls, &asked.rounds, &asked.steps};
  for (int at = 0; at < 4; ++at) *figures[at] = std::atoi(words[2 + at]);
  for (int word = 6; word < count; ++word) asked.sides.push_back(std::atoi(words[word]));
  for (const int side : asked.sides) asked.ranks *= side;
  if (const char* const ids = std::getenv("IDS")) asked.ids = std::atoi(ids);
  if (asked.ranks > 1024) return 2;
  const char* const results = std::getenv("RESULTS");
  if (results == nullptr) return run_all(asked, words);
  const rlimit limit{static_cast<rlim_t>(asked.limit), static_cast<rlim_t>(asked.limit)};
  setrlimit(RLIMIT_NOFILE, &limit);
  const Found found = Job(asked, ranks::own()).run();
  return write(std::atoi(results), &found, sizeof found) == sizeof found ? 0 : 1;
}
