// Sums whose last bits depend on the order of additions, each compared with a loop over the ranks:
// every operation that adds, in every type, from the communicator's first call on. Prints "ok", or
// the first calls that are in another order.
//
// ordered_program CALLS [exact] [grouped] [late] [large] [split] [captured]
// exact: sums are to be exact, and rounded once
// grouped: the sums of a step are one group
// late: ranks sleep before calls, each for other times
// large: a sum that is added in parts
// split: on a part of the communicator, whose ranks are in the opposite order
// captured: the sums of a step are replayed from a graph
// others: with each step a product, the least value, and a sum of integers, which nobody checks
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "../collective/nearest.h"
#include "random_values.h"
#include "ranks.h"

namespace {

using random_program::load;
using random_program::size_of;
using random_program::store;
using thinwire::Dtype;
using world::Bytes;

constexpr std::size_t kCount = 20'000, kFew = 5, kBlock = 6000, kLarge = 9 << 20,
                      kLargeBlock = 5 << 20;
constexpr ncclDataType_t kTypes[] = {ncclFloat32, ncclBfloat16, ncclFloat16, ncclFloat64};

std::atomic<int> failures{0};
std::set<std::string> modes;

bool in(const char* mode) { return modes.contains(mode); }

void expect(bool holds, const std::string& what, int rank, int step) {
  if (holds || ++failures > 5) return;
  std::fprintf(stderr, "rank %d, step %d: wrong: %s\n", rank, step, what.c_str());
}

void take(ncclResult_t result, const char* what, int rank, int step) {
  expect(ranks::final_result(result) == ncclSuccess, what, rank, step);
}

std::uint64_t scrambled(std::uint64_t word) {
  word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9U;
  return word ^ word >> 32;
}

// Few digits, in a range of magnitudes that no sum of the type holds: it is rounded at almost each
// addition. Neighbours are equal, so that the values get smaller.
double value(ncclDataType_t type, int rank, int step, std::size_t at) {
  const int range = type == ncclFloat64 ? 58 : 27;
  const std::uint64_t word = scrambled((at / 16 + 1) * 0x9E3779B97F4A7C15U +
                                       static_cast<std::uint64_t>(rank * 131 + step));
  int power = static_cast<int>(word >> 8 & 0xFF) % range - 18;
  const double digits = static_cast<double>((word >> 20 & 15) + 16) / 16;
  // Some that no two doubles hold together.
  if (in("exact") && type != ncclFloat16 && at / 16 % 8 == 0)
    power += (static_cast<int>(word >> 28 & 3) - 1) * (type == ncclFloat64 ? 120 : 40);
  return std::ldexp((word & 1) != 0 ? digits : -digits, type == ncclFloat16 ? power / 2 : power);
}

// Three by turns: a sum, an average, a sum of values that ranks multiply by factors of their own.
double factor(int rank) { return rank % 2 == 0 ? 0.75 : -1.375; }
enum Kind { kSum, kAvg, kScaled };
Kind kind_of(int step) { return static_cast<Kind>(step / 4 % 3); }

template <typename Number>
void add(ncclDataType_t type, Kind kind, int ranks, int step, std::size_t first, std::size_t count,
         Bytes& to) {
  Bytes word(size_of(type));
  for (std::size_t at = 0; at < count; ++at) {
    Number sum{};
    for (int rank = 0; rank < ranks; ++rank) {
      store(word, 0, type, value(type, rank, step, first + at));
      auto number = static_cast<Number>(load(word, 0, type));
      if (kind == kAvg) number *= static_cast<Number>(1.0 / ranks);
      if (kind == kScaled) number *= static_cast<Number>(factor(rank));
      sum = rank == 0 ? number : sum + number;
    }
    store(to, at, type, sum);
  }
}

// Values `first` and after, added up in the order of the ranks: 16-bit types in fp32, rounded once.
Bytes loop(ncclDataType_t type, Kind kind, int ranks, int step, std::size_t first,
           std::size_t count) {
  Bytes made(count * size_of(type));
  if (type == ncclFloat64) {
    add<double>(type, kind, ranks, step, first, count, made);
  } else {
    add<float>(type, kind, ranks, step, first, count, made);
  }
  return made;
}

// Whether what was found from `first` on is the exact sum of all ranks' products, which are
// rounded, or their mean, rounded once. Neighbours that have equal values have equal sums.
template <Dtype kDtype>
bool are_exact(const Bytes& found, ncclDataType_t type, Kind kind, int ranks, int step,
               std::size_t first) {
  using Number = thinwire::NumberOf<kDtype>;
  using Word = thinwire::WordOf<kDtype>;
  Bytes word(sizeof(Word));
  Word before = 0;
  for (std::size_t at = 0; at < found.size() / sizeof(Word); ++at) {
    Word sum;
    std::memcpy(&sum, found.data() + at * sizeof sum, sizeof sum);
    const bool is_new = at == 0 || (first + at) % 16 == 0;
    if (!is_new && sum != before) return false;
    before = sum;
    if (!is_new) continue;
    std::vector<double> products;
    for (int rank = 0; rank < ranks; ++rank) {
      store(word, 0, type, value(type, rank, step, first + at));
      const auto number = static_cast<Number>(load(word, 0, type));
      products.push_back(kind == kScaled ? number * static_cast<Number>(factor(rank)) : number);
    }
    const auto divisor = static_cast<std::uint32_t>(kind == kAvg ? ranks : 1);
    if (!thinwire::collective::is_nearest_sum<kDtype>(products, sum, divisor)) return false;
  }
  return true;
}

bool are_exact(const Bytes& found, ncclDataType_t type, Kind kind, int ranks, int step,
               std::size_t first) {
  const auto dtype = type == ncclFloat64    ? Dtype::kF64
                     : type == ncclFloat16  ? Dtype::kF16
                     : type == ncclBfloat16 ? Dtype::kBf16
                                            : Dtype::kF32;
  return thinwire::with_float_dtype(
      dtype, [&](auto kDtype) { return are_exact<kDtype>(found, type, kind, ranks, step, first); });
}

class Sums {
 public:
  explicit Sums(const ranks::Rank& self) : self_(self) {
    const std::size_t most = in("large") ? kLarge : kCount;
    block_count_ = in("large") ? kLargeBlock : kBlock;
    const std::size_t all = std::max(most, block_count_ * static_cast<std::size_t>(self.ranks));
    for (std::byte** each : {&mine_, &all_, &root_, &place_})
      *each = arena_.take(all * most_bytes());
    few_ = arena_.take(64);
    more_ = arena_.take(64);
    block_ = arena_.take(block_count_ * most_bytes());
    count_ = most;
  }

  void step(int number) {
    step_ = number;
    type_ = kTypes[in("large") ? 1 : number % 4];
    kind_ = kind_of(number);
    const std::size_t all = std::max(count_, block_count_ * static_cast<std::size_t>(self_.ranks));
    Bytes values(all * size_of(type_));
    for (std::size_t at = 0; at < all; ++at)
      store(values, at, type_, value(type_, self_.rank, number, at));
    world::write(mine_, values.data(), values.size());
    world::write(place_, values.data(), values.size());
    root_of_ = number % self_.ranks;
    begin_op();
    in("captured") ? capture() : make();
    self_.synchronize();
    if (kind_ == kScaled)
      take(ncclRedOpDestroy(op_, self_.comm), "the end of an operation", rank(), step_);
    check();
  }

 private:
  int rank() const { return self_.rank; }
  // Large sums are of 16-bit values.
  static std::size_t most_bytes() { return in("large") ? 2 : 8; }

  void begin_op() {
    op_ = kind_ == kAvg ? ncclAvg : ncclSum;
    if (kind_ != kScaled) return;
    Bytes scalar(8);
    store(scalar, 0, type_, factor(rank()));
    take(ncclRedOpCreatePreMulSum(&op_, scalar.data(), type_, ncclScalarHostImmediate, self_.comm),
         "an operation", rank(), step_);
  }

  void call(ncclResult_t result, const char* what) {
    if (in("grouped")) {
      expect(result == ncclSuccess, what, rank(), step_);
    } else {
      take(result, what, rank(), step_);
    }
  }

  void make() {
    if (in("grouped")) ncclGroupStart();
    call(ncclAllReduce(mine_, all_, count_, type_, op_, self_.comm, self_.stream), "AllReduce");
    call(ncclAllReduce(mine_, few_, kFew, type_, op_, self_.comm, self_.stream), "a small one");
    call(ncclReduceScatter(mine_, block_, block_count_, type_, op_, self_.comm, self_.stream),
         "ReduceScatter");
    call(ncclReduce(mine_, root_, count_, type_, op_, root_of_, self_.comm, self_.stream),
         "Reduce");
    call(ncclAllReduce(place_, place_, count_, type_, op_, self_.comm, self_.stream),
         "AllReduce in place");
    if (in("others")) make_others();
    if (in("grouped")) take(ncclGroupEnd(), "a group", rank(), step_);
  }

  void make_others() {
    call(ncclAllReduce(mine_, more_, kFew, type_, ncclProd, self_.comm, self_.stream), "a product");
    call(ncclAllReduce(mine_, more_, kFew, type_, ncclMin, self_.comm, self_.stream), "a minimum");
    call(ncclAllReduce(mine_, more_, kFew, ncclInt32, ncclSum, self_.comm, self_.stream),
         "a sum of integers");
  }

  void capture() {
    cudaGraph_t graph{};
    cudaGraphExec_t made{};
    cudaStreamBeginCapture(self_.stream, cudaStreamCaptureModeThreadLocal);
    make();
    cudaStreamEndCapture(self_.stream, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, self_.stream);
    self_.synchronize();
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
  }

  void check() const {
    const auto is = [&](const std::byte* at, std::size_t first, std::size_t count,
                        const char* what) {
      const Bytes found = world::read(at, count * size_of(type_));
      const bool is_right = in("exact")
                                ? are_exact(found, type_, kind_, self_.ranks, step_, first)
                                : found == loop(type_, kind_, self_.ranks, step_, first, count);
      expect(is_right,
             std::string(what) + " of type " + std::to_string(type_) + ", kind " +
                 std::to_string(kind_),
             rank(), step_);
    };
    is(all_, 0, count_, "AllReduce");
    is(few_, 0, kFew, "a small AllReduce");
    is(block_, block_count_ * static_cast<std::size_t>(rank()), block_count_, "ReduceScatter");
    if (rank() == root_of_) is(root_, 0, count_, "Reduce");
    is(place_, 0, count_, "AllReduce in place");
  }

  const ranks::Rank& self_;
  world::Arena arena_;
  std::byte *mine_ = nullptr, *all_ = nullptr, *few_ = nullptr, *more_ = nullptr, *block_ = nullptr,
            *root_ = nullptr, *place_ = nullptr;
  std::size_t count_ = 0, block_count_ = 0;
  int step_ = 0, root_of_ = 0;
  ncclDataType_t type_ = ncclFloat32;
  Kind kind_ = kSum;
  ncclRedOp_t op_ = ncclSum;
};

void work(ranks::Rank& self, int steps) {
  Sums sums(self);
  for (int step = 0; step < steps && failures == 0; ++step) {
    if (in("late")) usleep(scrambled(static_cast<unsigned>(step * 8 + self.rank)) % 4000);
    sums.step(step);
  }
}

}  // namespace

int main(int count, char** words) {
  const int steps = count > 1 ? std::atoi(words[1]) : 300;
  modes.insert(words + std::min(count, 2), words + count);
  ranks::run(ranks::count(4), [&](ranks::Rank& self) {
    if (!in("split")) return work(self, steps);
    ranks::Rank part{self.ranks - 1 - self.rank, self.ranks, nullptr, self.stream};
    take(ncclCommSplit(self.comm, 0, part.rank, &part.comm, nullptr), "a split", self.rank, 0);
    ranks::state_of(self.comm);
    ranks::state_of(part.comm);
    ranks::comms_of_thread().push_back(part.comm);
    work(part, steps);
    ncclCommDestroy(part.comm);
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
