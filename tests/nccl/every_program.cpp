// Every operation in every float type, each type on a communicator of its own, so that a report
// tells them apart: calls that come again until ranks agree on them, alone and in groups, in place
// and not, odd counts and none, buffers that are aligned to an element alone. Knows nothing of
// Thinwire and checks all values. Prints "ok".
//
// every_program ROUNDS [ERROR]  ERROR: what a value of up to 512 may be off each time that it is
//                               encoded; without, values are exact, and the last rounds have
//                               some that do not get smaller
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "random_values.h"
#include "ranks.h"

namespace random_program {
namespace {

constexpr ncclDataType_t kTypes[] = {ncclFloat32, ncclBfloat16, ncclFloat16, ncclFloat64};
constexpr std::size_t kCounts[] = {20'003, 6'400};
constexpr std::size_t kSmall[] = {0, 1, 63, 777};

std::atomic<int> failures{0};

struct Settings {
  int rounds = 0;
  double error = -1;  // below 0: exact
  bool exact() const { return error < 0; }
};

void expect_success(int line, ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "line %d: a call has returned %d\n", line, result);
  ++failures;
}

// The numbers that must be at an address in the end.
struct Expected {
  const std::byte* at;
  std::vector<double> numbers;
  double error;
  std::string name;
};

// One type's calls of a round.
class Calls {
 public:
  Calls(ranks::Rank& self, ncclComm_t comm, ncclDataType_t type, const Settings& settings)
      : self_(self), comm_(comm), type_(type), settings_(settings) {}

  void round(int number) {
    number_ = number;
    noise_ = settings_.exact() && number >= settings_.rounds * 3 / 4 && number % 2 == 0;
    in_place_ = number % 3 == 1;
    off_ = static_cast<std::size_t>(number % 4) * size_of(type_);
    // Most rounds are groups of calls of one operation, which costs a GPU less.
    const bool grouped = number % 4 != 3;
    for (const std::size_t count : kCounts) all_operations(count, grouped ? 4 : 1);
    all_operations(kSmall[static_cast<std::size_t>(number) % 4], 1);
    cudaStreamSynchronize(self_.stream);
    check();
  }

 private:
  template <typename Make>
  void repeat(int times, Make make) {
    if (times > 1) expect_success(__LINE__, ncclGroupStart());
    for (int time = 0; time < times; ++time) {
      ++id_;
      make();
    }
    if (times > 1) expect_success(__LINE__, ncclGroupEnd());
  }

  void all_operations(std::size_t count, int times) {
    repeat(times, [&] { gather(count); });
    repeat(times, [&] { broadcast(count); });
    repeat(times, [&] { all_to_all(count); });
    repeat(times, [&] { gather_at_root(count); });
    repeat(times, [&] { scatter(count); });
    repeat(times, [&] { reduce_scatter(count); });
    repeat(times, [&] { reduce_all(count); });
    repeat(times, [&] { reduce(count); });
    // A message waits for its peer: without a group these two would wait for each other.
    repeat(std::max(times * 2, 2), [&] { exchange(count); });
  }

  double number_of(int rank, std::size_t at) const {
    return stored(type_, value(type_, rank, id_, at, noise_, self_.ranks));
  }

  Bytes own_values(std::size_t count) const {
    Bytes made(count * size_of(type_));
    for (std::size_t at = 0; at < count; ++at) store(made, at, type_, number_of(self_.rank, at));
    return made;
  }

  std::vector<double> numbers(int rank, std::size_t count) const {
    std::vector<double> made(count);
    for (std::size_t at = 0; at < count; ++at) made[at] = number_of(rank, at);
    return made;
  }

  std::vector<double> sums(std::size_t first, std::size_t count, ncclRedOp_t op) const {
    std::vector<double> made(count), all(static_cast<std::size_t>(self_.ranks));
    for (std::size_t at = 0; at < count; ++at) {
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank] = number_of(static_cast<int>(rank), first + at);
      }
      made[at] = combined(type_, op, all);
    }
    return made;
  }

  void expect(const std::byte* at, std::vector<double> numbers, const char* name, int encodes) {
    expected_.push_back({at, std::move(numbers), settings_.error * encodes,
                         std::string(name) + " of type " + std::to_string(type_) + ", call " +
                             std::to_string(id_)});
  }

  // Means of three are rounded in ways of each one's own; of one rank NCCL 2.28 on GPUs makes other
  // values, with the library or without.
  ncclRedOp_t op() const {
    const bool means = self_.ranks != 3 && !(world::kOnGpus && self_.ranks == 1);
    return id_ % 2 != 0 && means ? ncclAvg : ncclSum;
  }

  void gather(std::size_t count) {
    const std::size_t block = count * size_of(type_);
    const auto ranks = static_cast<std::size_t>(self_.ranks);
    std::byte* const receive = arena_.take(ranks * block, off_);
    std::byte* send = receive + static_cast<std::size_t>(self_.rank) * block;
    const Bytes own = own_values(count);
    if (in_place_) {
      world::write(send, own.data(), block);
    } else {
      send = arena_.take(own, off_);
    }
    std::vector<double> all;
    for (int rank = 0; rank < self_.ranks; ++rank) {
      const auto theirs = numbers(rank, count);
      all.insert(all.end(), theirs.begin(), theirs.end());
    }
    expect(receive, std::move(all), "AllGather", 1);
    expect_success(__LINE__, ncclAllGather(send, receive, count, type_, comm_, self_.stream));
  }

  // A kind of calls has one root.
  void broadcast(std::size_t count) {
    const int root = type_ % self_.ranks;
    std::byte* const send = arena_.take(own_values(count), off_);
    std::byte* const receive =
        in_place_ ? send : arena_.take(count * size_of(type_), off_ + size_of(type_));
    expect(receive, numbers(root, count), "Broadcast", 1);
    expect_success(__LINE__, ncclBroadcast(send, receive, count, type_, root, comm_, self_.stream));
  }

  void all_to_all(std::size_t count) {
    const auto ranks = static_cast<std::size_t>(self_.ranks);
    const std::byte* const send = arena_.take(own_values(count * ranks), off_);
    std::byte* const receive = arena_.take(count * ranks * size_of(type_), off_);
    std::vector<double> all;
    for (int rank = 0; rank < self_.ranks; ++rank) append_block(all, rank, self_.rank, count);
    expect(receive, std::move(all), "AlltoAll", 1);
    expect_success(__LINE__, ncclAlltoAll(send, receive, count, type_, comm_, self_.stream));
  }

  // Only the root has a buffer to receive in.
  void gather_at_root(std::size_t count) {
    const int root = type_ % self_.ranks;
    const bool is_root = self_.rank == root;
    const auto ranks = static_cast<std::size_t>(self_.ranks);
    const Bytes own = own_values(count);
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
    if (is_root) receive = arena_.take(count * ranks * size_of(type_), off_);
    if (is_root && in_place_) {
      std::byte* const block = receive + static_cast<std::size_t>(root) * own.size();
      world::write(block, own.data(), own.size());
      send = block;
    } else {
      send = arena_.take(own, off_);
    }
    std::vector<double> all;
    for (int rank = 0; rank < self_.ranks; ++rank) {
      const auto theirs = numbers(rank, count);
      all.insert(all.end(), theirs.begin(), theirs.end());
    }
    if (is_root) expect(receive, std::move(all), "Gather", 1);
    expect_success(__LINE__, ncclGather(send, receive, count, type_, root, comm_, self_.stream));
  }

  // And only the root one to send.
  void scatter(std::size_t count) {
    const int root = type_ % self_.ranks;
    const bool is_root = self_.rank == root;
    const auto ranks = static_cast<std::size_t>(self_.ranks);
    std::byte* const send = is_root ? arena_.take(own_values(count * ranks), off_) : nullptr;
    const std::size_t block = static_cast<std::size_t>(root) * count * size_of(type_);
    std::byte* const receive =
        is_root && in_place_ ? send + block : arena_.take(count * size_of(type_), off_);
    std::vector<double> own;
    append_block(own, root, self_.rank, count);
    expect(receive, std::move(own), "Scatter", 1);
    expect_success(__LINE__, ncclScatter(send, receive, count, type_, root, comm_, self_.stream));
  }

  // Appends block `block` of the numbers that rank `of` has for all ranks.
  void append_block(std::vector<double>& to, int of, int block, std::size_t count) const {
    const auto all = numbers(of, count * static_cast<std::size_t>(self_.ranks));
    const auto first = all.begin() + block * static_cast<std::ptrdiff_t>(count);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }

  void reduce_scatter(std::size_t count) {
    const auto rank = static_cast<std::size_t>(self_.rank);
    const auto all = count * static_cast<std::size_t>(self_.ranks);
    std::byte* const send = arena_.take(own_values(all), off_);
    std::byte* const receive = in_place_ ? send + rank * count * size_of(type_)
                                         : arena_.take(count * size_of(type_), off_);
    expect(receive, sums(rank * count, count, op()), "ReduceScatter", self_.ranks);
    expect_success(__LINE__,
                   ncclReduceScatter(send, receive, count, type_, op(), comm_, self_.stream));
  }

  void reduce_all(std::size_t count) {
    std::byte* const send = arena_.take(own_values(count), off_);
    std::byte* const receive = in_place_ ? send : arena_.take(count * size_of(type_), off_);
    expect(receive, sums(0, count, op()), "AllReduce", self_.ranks + 1);
    expect_success(__LINE__, ncclAllReduce(send, receive, count, type_, op(), comm_, self_.stream));
  }

  // In place where the others have a buffer to receive in too, which stays as it is.
  void reduce(std::size_t count) {
    const int root = type_ % self_.ranks;
    std::byte* const send = arena_.take(own_values(count), off_);
    std::byte* receive = in_place_ ? send : nullptr;
    if (self_.rank == root) {
      if (receive == nullptr) receive = arena_.take(count * size_of(type_), off_);
      expect(receive, sums(0, count, op()), "Reduce", self_.ranks + 1);
    } else {
      expect(send, numbers(self_.rank, count), "Reduce's send", 0);
    }
    expect_success(__LINE__,
                   ncclReduce(send, receive, count, type_, op(), root, comm_, self_.stream));
  }

  void exchange(std::size_t count) {
    const int next = (self_.rank + 1) % self_.ranks;
    const int last = (self_.rank + self_.ranks - 1) % self_.ranks;
    const std::byte* const send = arena_.take(own_values(count), off_);
    std::byte* const receive = arena_.take(count * size_of(type_), off_);
    expect(receive, numbers(last, count), "Recv", 1);
    expect_success(__LINE__, ncclSend(send, count, type_, next, comm_, self_.stream));
    expect_success(__LINE__, ncclRecv(receive, count, type_, last, comm_, self_.stream));
  }

  bool agrees(const Expected& with) const {
    const std::size_t count = with.numbers.size();
    const Bytes found = world::read(with.at, count * size_of(type_));
    Bytes exact(found.size());
    for (std::size_t at = 0; at < count; ++at) store(exact, at, type_, with.numbers[at]);
    if (found == exact) return true;
    if (settings_.exact()) return false;
    for (std::size_t at = 0; at < count; ++at) {
      const double number = load(found, at, type_);
      // Beside the codec's error that of the result's type.
      const double most = with.error + std::abs(with.numbers[at]) / 256;
      if (!(std::abs(number - with.numbers[at]) <= most)) return false;
    }
    return true;
  }

  void check() {
    for (const Expected& each : expected_) {
      if (failures > 5 || agrees(each)) continue;
      std::fprintf(stderr, "rank %d, round %d: wrong: %s\n", self_.rank, number_,
                   each.name.c_str());
      ++failures;
    }
    expected_.clear();
    arena_.give_back_all();
  }

  ranks::Rank& self_;
  ncclComm_t comm_;
  ncclDataType_t type_;
  const Settings& settings_;
  world::Arena arena_;
  std::vector<Expected> expected_;
  int number_ = 0;
  std::uint32_t id_ = 0;
  std::size_t off_ = 0;
  bool noise_ = false, in_place_ = false;
};

void run(ranks::Rank& self, const Settings& settings) {
  ncclComm_t comms[std::size(kTypes)] = {};
  std::vector<std::unique_ptr<Calls>> calls;
  for (std::size_t type = 0; type < std::size(kTypes); ++type) {
    expect_success(__LINE__, ncclCommSplit(self.comm, 0, self.rank, &comms[type], nullptr));
    calls.push_back(std::make_unique<Calls>(self, comms[type], kTypes[type], settings));
  }
  // Long enough for ranks to find each other.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int round = 0; round < settings.rounds && failures == 0; ++round) {
    for (const auto& each : calls) each->round(round);
  }
  for (ncclComm_t each : comms) ncclCommDestroy(each);
}

}  // namespace
}  // namespace random_program

int main(int count, char** words) {
  using namespace random_program;
  Settings settings;
  settings.rounds = count > 1 ? std::atoi(words[1]) : 24;
  if (count > 2) settings.error = std::atof(words[2]);
  ranks::run(ranks::count(2), [&](ranks::Rank& self) { run(self, settings); });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
