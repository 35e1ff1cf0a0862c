// A job of many ranks, each a process with few file descriptors, splits its communicator several
// ways at once, as a mesh does, and then, with `pairs`, agrees with every other rank on messages to
// it and from it: prints how long it takes, and how many descriptors a rank had at most. Fails
// where a part or a value is not there after MOST seconds, or a rank had more than ALLOWED
// descriptors, up to when all parts were there and again after nobody has anything to say.
//
// agree_splits parts|pairs RANKS LIMIT ALLOWED MOST A B C ...   the mesh's sides
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agree/job.h"
#include "agree/pipe.h"
#include "descriptors.h"

namespace {

using namespace job;
using Clock = std::chrono::steady_clock;

struct Asked {
  int ranks = 0, limit = 0, allowed = 0;
  double most = 0;
  bool pairs = false;
  std::vector<int> sides;
};

struct Found {
  int rank = 0;
  bool world = false;
  int ready = 0;        // parts
  int descriptors = 0;  // at most
  int pairs = 0;        // messages to a rank, or from it, that are agreed on
  int meanwhile = 0;    // descriptors at most
  int at_end = 0;
  double world_after = 0;  // seconds
};

// The rank's place along a side, and the color of those that share its other places.
struct Place {
  int color = 0, rank = 0;
};
Place place_along(const std::vector<int>& sides, std::size_t side, int rank) {
  int stride = 1;
  for (std::size_t before = 0; before < side; ++before) stride *= sides[before];
  const int along = rank / stride % sides[side];
  return {rank - along * stride, along};
}

template <typename Holds>
bool wait_and_count(Holds holds, double seconds, int& most) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  bool holds_now = false;
  while (!(holds_now = holds()) && Clock::now() < end) {
    most = std::max(most, descriptors_now());
    std::this_thread::sleep_for(50ms);
  }
  most = std::max(most, descriptors_now());
  return holds_now;
}

// Messages of one kind to all and from all.
int agree_with_all(const CommunicatorRef& world, const Asked& asked, int rank, Found& found) {
  constexpr std::uint64_t kKey = 7;
  std::vector<Channel*> open;
  for (int other = 0; other < asked.ranks; ++other) {
    if (other == rank) continue;
    world->to(other).offer(kKey, {100, 0});
    world->from(other).offer(kKey, {0, 0});
    open.insert(open.end(), {&world->to(other), &world->from(other)});
  }
  const auto all = static_cast<int>(open.size());
  std::uint64_t call = 0;
  wait_and_count(
      [&] {
        std::erase_if(open,
                      [&](Channel* each) { return each->value(call, kKey).value.capacity != 0; });
        ++call;
        return open.empty();
      },
      asked.most, found.meanwhile);
  return all - static_cast<int>(open.size());
}

bool is_ready(const CommunicatorRef& comm) { return comm->state() == State::kReady; }

[[noreturn]] void run_rank(int rank, const Asked& asked, const Pipe& ids, const Pipe& made,
                           const Pipe& results, const Pipe* ends) {
  const rlimit limit{static_cast<rlim_t>(asked.limit), static_cast<rlim_t>(asked.limit)};
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto begin = Clock::now();
  Options options;
  options.registration = options.connecting = 120s;
  Helper helper(options);
  if (rank == 0) {
    Id id = bare_id();
    helper.stamp(id);
    made.put(id);
  }
  const auto world = helper.open(ids.take<Id>(), rank, asked.ranks, {{"codec", "mpc"}});
  Found found;
  found.rank = rank;
  found.world = wait_and_count([&] { return is_ready(world); }, asked.most, found.descriptors);
  found.world_after = std::chrono::duration<double>(Clock::now() - begin).count();
  // All of them at once.
  std::vector<CommunicatorRef> parts;
  for (std::size_t side = 0; side < asked.sides.size(); ++side) {
    const Place place = place_along(asked.sides, side, rank);
    parts.push_back(helper.open_child(world, side, place.color, place.rank, asked.sides[side]));
  }
  wait_and_count([&] { return std::ranges::all_of(parts, is_ready); }, asked.most,
                 found.descriptors);
  found.ready = static_cast<int>(std::ranges::count_if(parts, is_ready));
  results.put(found);
  ends[0].take<char>();
  if (asked.pairs) found.pairs = agree_with_all(world, asked, rank, found);
  results.put(found);
  ends[1].take<char>();
  found.at_end = 1 << 20;
  const auto falls = [&] {
    found.at_end = std::min(found.at_end, descriptors_now());
    return found.at_end <= asked.allowed;
  };
  for (int times = 0; times < 200 && !falls(); ++times) std::this_thread::sleep_for(100ms);
  results.put(found);
  ends[2].take<char>();
  std::_Exit(0);
}

bool judge(const Asked& asked, const Pipe& results) {
  bool good = true;
  int most = 0, of = 0;
  double world_after = 0;
  const int sides = static_cast<int>(asked.sides.size());
  for (int rank = 0; rank < asked.ranks; ++rank) {
    const auto found = results.take<Found>();
    if (found.descriptors > most) of = found.rank;
    most = std::max(most, found.descriptors);
    world_after = std::max(world_after, found.world_after);
    if (found.world && found.ready == sides) continue;
    if (std::exchange(good, false)) {
      std::printf("rank %d: %s, %d of %d parts\n", found.rank,
                  found.world ? "all ranks have it" : "not known who has it", found.ready, sides);
    }
  }
  std::printf(
      "%d ranks in %d splits: %s, at most %d descriptors (rank %d), the first after %.2f s\n",
      asked.ranks, sides, good ? "all parts are there" : "not all parts are there", most, of,
      world_after);
  return good && most <= asked.allowed;
}

}  // namespace

int main(int count, char** words) {
  if (count < 7) return 2;
  Asked asked;
  asked.pairs = std::string(words[1]) == "pairs";
  asked.ranks = std::atoi(words[2]);
  asked.limit = std::atoi(words[3]);
  asked.allowed = std::atoi(words[4]);
  asked.most = std::atof(words[5]);
  for (int word = 6; word < count; ++word) asked.sides.push_back(std::atoi(words[word]));
  const Pipe ids, made, results, ends[3];  // of each step, as one may be a step ahead
  const auto begin = Clock::now();
  for (int rank = 0; rank < asked.ranks; ++rank) {
    if (fork() == 0) run_rank(rank, asked, ids, made, results, ends);
  }
  const Id id = made.take<Id>();
  const auto for_all = [&](const auto& then) {
    for (int rank = 0; rank < asked.ranks; ++rank) then();
  };
  for_all([&] { ids.put(id); });
  const bool parts = judge(asked, results);
  for_all([&] { ends[0].put('e'); });
  int pairs = 0, meanwhile = 0, at_end = 0;
  for_all([&] {
    const auto found = results.take<Found>();
    pairs += found.pairs;
    meanwhile = std::max(meanwhile, found.meanwhile);
  });
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for_all([&] { ends[1].put('e'); });
  for_all([&] { at_end = std::max(at_end, results.take<Found>().at_end); });
  for_all([&] { ends[2].put('e'); });
  while (wait(nullptr) > 0) {
  }
  const int wanted = asked.pairs ? 2 * asked.ranks * (asked.ranks - 1) : 0;
  std::printf("%d of %d agreed on, at most %d descriptors meanwhile and %d at the end, %.2f s\n",
              pairs, wanted, meanwhile, at_end, seconds);
  return parts && pairs == wanted && at_end <= asked.allowed ? 0 : 1;
}
