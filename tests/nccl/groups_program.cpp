// An NCCL program whose ranks group their calls in ways of their own, as NCCL allows it. It knows
// nothing of Thinwire and checks every result. Prints "ok".
//
// groups_program CASE CALLS [SEED]
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ranks.h"

namespace {

std::atomic<int> failures{0};
constexpr std::size_t kCount = 9000;

void check(ncclResult_t result, const char* what) {
  if (ranks::final_result(result) == ncclSuccess) return;
  std::fprintf(stderr, "%s has failed\n", what);
  ++failures;
}

// The communicators and buffers of one rank, and its calls, whose results are checked at the end.
class Calls {
 public:
  Calls(ranks::Rank& self, unsigned seed)
      : self_(self), common_(seed), own_(seed * 77 + static_cast<unsigned>(self.rank)) {
    ncclCommSplit(self.comm, 0, self.rank, &other_, nullptr);
    ranks::state_of(self.comm);
    check(ranks::state_of(other_), "split");
    ranks::comms_of_thread().push_back(other_);
    ncclCommSplit(self.comm, 0, self.rank, &third_, nullptr);
    ranks::state_of(self.comm);
    check(ranks::state_of(third_), "split");
    ranks::comms_of_thread().push_back(third_);
    cudaStreamCreate(&second_);
  }
  ~Calls() {
    ncclCommDestroy(other_);
    ncclCommDestroy(third_);
    cudaStreamDestroy(second_);
  }

  int rank() const { return self_.rank; }
  int next() const { return (self_.rank + 1) % self_.ranks; }
  int before() const { return (self_.rank + self_.ranks - 1) % self_.ranks; }
  ncclComm_t one() const { return self_.comm; }
  ncclComm_t other() const { return other_; }
  ncclComm_t third() const { return third_; }
  cudaStream_t second() const { return second_; }
  unsigned pick(unsigned below) { return static_cast<unsigned>(common_() % below); }
  unsigned pick_own(unsigned below) { return static_cast<unsigned>(own_() % below); }
  std::mt19937& own() { return own_; }
  float number() { return static_cast<float>(++number_ % 1000); }

  // `wanted`: where it is not carried out.
  void all_reduce(ncclComm_t comm, float v, std::optional<float> wanted = {}) {
    float* const to = keep(kCount, wanted.value_or(total(v)));
    check(ncclAllReduce(give(kCount, v + mine()), to, kCount, ncclFloat32, ncclSum, comm,
                        self_.stream),
          "AllReduce");
  }
  // To rank 1, as the only one.
  void reduce(ncclComm_t comm, float v) {
    float* const to = keep(kCount, self_.rank == 1 ? total(v) : 0);
    check(ncclReduce(give(kCount, v + mine()), to, kCount, ncclFloat32, ncclSum, 1, comm,
                     self_.stream),
          "Reduce");
  }
  void reduce_scatter(ncclComm_t comm, float v) {
    float* const to = keep(kCount, total(v));
    check(ncclReduceScatter(give(kCount * ranks(), v + mine()), to, kCount, ncclFloat32, ncclSum,
                            comm, self_.stream),
          "ReduceScatter");
  }
  void all_to_all(ncclComm_t comm, float v, ncclDataType_t type) {
    float* const to = keep(kCount * ranks(), -1 - v);
    check(ncclAlltoAll(give(kCount * ranks(), v + mine()), to, kCount, type, comm, self_.stream),
          "AlltoAll");
  }
  // Gathers whole numbers, whose codec is none: they stay raw.
  void gather(ncclComm_t comm, float v, cudaStream_t stream) {
    float* const to = keep(kCount * ranks(), -1 - v);
    check(ncclAllGather(give(kCount, v + mine()), to, kCount, ncclInt32, comm, stream),
          "AllGather");
  }
  cudaStream_t first() const { return self_.stream; }
  void send(float v, int to, ncclDataType_t type, std::optional<cudaStream_t> stream = {}) {
    check(ncclSend(give(kCount, v + mine()), kCount, type, to, self_.comm,
                   stream.value_or(self_.stream)),
          "Send");
  }
  void receive(float v, int from, ncclDataType_t type, std::optional<cudaStream_t> stream = {}) {
    float* const to = keep(kCount, v + static_cast<float>(from));
    check(ncclRecv(to, kCount, type, from, self_.comm, stream.value_or(self_.stream)), "Recv");
  }
  // Makes a call with a rank, a type, a reduction or a capture that NCCL refuses.
  void refused(unsigned kind) {
    const float* const from = give(kCount, 1);
    float* const to = keep(kCount, 0);
    const auto type = kind == 1 ? static_cast<ncclDataType_t>(99) : ncclInt32;
    const auto op = kind == 2 ? static_cast<ncclRedOp_t>(77) : ncclSum;
    if (kind == 0) {
      ncclSend(from, kCount, ncclFloat32, 99, self_.comm, self_.stream);
    } else {
      ncclAllReduce(from, to, kCount, type, op, self_.comm, kind >= 3 ? second_ : self_.stream);
    }
  }

  // Ends the capture of the second stream, and does once what is in it.
  void replay_second() {
    cudaGraph_t graph{};
    cudaGraphExec_t made{};
    const bool is_whole = cudaStreamEndCapture(second_, &graph) == 0 &&
                          cudaGraphInstantiate(&made, graph, 0) == 0 &&
                          cudaGraphLaunch(made, second_) == 0;
    if (!is_whole) ++failures;
    cudaStreamSynchronize(second_);
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
  }

  void look() {
    self_.synchronize();
    cudaStreamSynchronize(second_);
    for (const Kept& each : kept_) {
      for (std::size_t at = 0; at < each.values.size(); ++at) {
        const float wanted =
            each.wanted < 0 ? -1 - each.wanted + static_cast<float>(at / kCount) : each.wanted;
        if (each.values[at] == wanted) continue;
        std::fprintf(stderr, "rank %d: %g instead of %g\n", rank(),
                     static_cast<double>(each.values[at]), static_cast<double>(wanted));
        ++failures;
        break;
      }
    }
    kept_.clear();
    given_.clear();
  }

 private:
  struct Kept {
    std::vector<float> values;
    float wanted;  // below 0: of each rank another one
  };
  float mine() const { return static_cast<float>(self_.rank); }
  std::size_t ranks() const { return static_cast<std::size_t>(self_.ranks); }
  float total(float v) const {
    return static_cast<float>(self_.ranks) * v +
           static_cast<float>(self_.ranks * (self_.ranks - 1) / 2);
  }
  float* keep(std::size_t count, float wanted) {
    kept_.push_back({std::vector<float>(count), wanted});
    return kept_.back().values.data();
  }
  const float* give(std::size_t count, float value) {
    given_.emplace_back(count, value);
    return given_.back().data();
  }

  ranks::Rank& self_;
  ncclComm_t other_ = nullptr, third_ = nullptr;
  cudaStream_t second_ = nullptr;
  std::mt19937 common_, own_;
  unsigned number_ = 0;
  std::vector<Kept> kept_;
  std::vector<std::vector<float>> given_;
};

// Another order on each end.
void shuffled(Calls& of) {
  const float v = of.number();
  const bool first = of.rank() % 2 == 0;
  ncclGroupStart();
  if (first) of.reduce_scatter(of.one(), v);
  of.send(v, of.next(), ncclInt32);
  of.receive(v, of.before(), ncclInt32);
  if (!first) of.reduce_scatter(of.one(), v);
  check(ncclGroupEnd(), "group");
}

// Makes calls that are a group on rank 0 alone.
void one_sided(Calls& of) {
  const float v = of.number();
  const bool groups = of.rank() == 0;
  if (groups) ncclGroupStart();
  of.pick(2) == 0 ? of.all_reduce(of.one(), v) : of.reduce(of.one(), v);
  if (of.rank() == 0) of.send(v, 1, ncclInt32);
  if (of.rank() == 1) of.receive(v, 0, ncclInt32);
  if (groups) check(ncclGroupEnd(), "group");
}

// Makes calls of two communicators on one stream, a group on rank 0 alone.
void two(Calls& of) {
  const float v = of.number();
  const bool groups = of.rank() == 0;
  if (groups) ncclGroupStart();
  of.all_reduce(of.one(), v);
  of.all_reduce(of.other(), v);
  if (groups) check(ncclGroupEnd(), "group");
}

// Messages around one that NCCL makes messages of, some of which are compressed.
void exchanged(Calls& of) {
  const float v = of.number();
  const bool groups = of.rank() % 2 == 0;
  if (groups) ncclGroupStart();
  if (of.rank() == 0) of.send(v, 1, ncclFloat32);
  if (of.rank() == 1) of.receive(v, 0, ncclFloat32);
  of.all_to_all(of.one(), v, ncclInt32);
  if (of.rank() == 0) of.send(v, 1, ncclInt32);
  if (of.rank() == 1) of.receive(v, 0, ncclInt32);
  of.all_to_all(of.one(), v, ncclFloat32);
  if (groups) check(ncclGroupEnd(), "group");
}

// A sum and an exchange, which NCCL makes messages of: either first, or in its own order without a
// group.
void mixed(Calls& of) {
  const float v = of.number();
  const unsigned own = of.pick_own(3);
  const ncclDataType_t type = of.pick(4) == 0 ? ncclInt32 : ncclFloat32;
  const unsigned kind = of.pick(2);
  const auto sum = [&] { kind == 0 ? of.all_reduce(of.one(), v) : of.reduce_scatter(of.one(), v); };
  if (own > 0) ncclGroupStart();
  if (own != 1) sum();
  of.all_to_all(of.one(), v, type);
  if (own == 1) sum();
  if (own > 0) check(ncclGroupEnd(), "group");
}

// On two streams, a communicator that has calls on both between one of the first's and one of the
// second's; of rank 0 alone in a group.
void three(Calls& of) {
  const float v = of.number(), w = of.number();
  const bool groups = of.rank() == 0;
  if (groups) ncclGroupStart();
  of.all_reduce(of.other(), v);
  of.gather(of.one(), w, of.first());
  ncclGroupStart();
  of.send(v, of.next(), ncclInt32, of.second());
  of.receive(v, of.before(), ncclInt32, of.second());
  check(ncclGroupEnd(), "inner group");
  of.gather(of.third(), w, of.second());
  if (groups) check(ncclGroupEnd(), "group");
}

// NCCL refuses one of rank 0's, which comes again without what it refuses.
void refused(Calls& of) {
  const float v = of.number();
  if (of.rank() == 0 && of.pick_own(8) == 0) {
    const unsigned kind = of.pick_own(5);
    if (kind >= 3) cudaStreamBeginCapture(of.second(), cudaStreamCaptureModeThreadLocal);
    if (kind == 4) cudaStreamSynchronize(of.second());  // it is invalid from here on
    ncclGroupStart();
    of.all_reduce(of.one(), v, 0);
    of.all_reduce(of.other(), v, 0);
    of.refused(kind);
    if (ncclGroupEnd() == ncclSuccess) ++failures;
    cudaGraph_t graph{};
    if (kind >= 3 && cudaStreamEndCapture(of.second(), &graph) == 0) cudaGraphDestroy(graph);
  }
  of.all_reduce(of.one(), v);
  of.all_reduce(of.other(), v);
}

// A sum that is compressed beside another communicator's call, which goes into a graph: of rank 0
// alone in a group. NCCL wants the streams of each communicator to be captured alike.
void beside(Calls& of) {
  const float v = of.number();
  const bool groups = of.rank() == 0;
  cudaStreamBeginCapture(of.second(), cudaStreamCaptureModeThreadLocal);
  if (groups) ncclGroupStart();
  of.all_reduce(of.one(), v);
  of.gather(of.third(), v, of.second());
  if (groups) check(ncclGroupEnd(), "group");
  of.replay_second();
}

// A collective or two, and messages in rings: shuffled if all have them in a group, or in the
// order in which NCCL carries out a group's if some ranks have none.
void random(Calls& of) {
  const unsigned kind = of.pick(3), messages = of.pick(4);
  const bool by_all = of.pick(2) == 0;
  const bool groups = by_all || of.pick_own(2) == 0;
  std::vector<std::function<void()>> collectives, rings;
  const float v = of.number();
  const ncclComm_t comm = of.pick(2) == 0 ? of.one() : of.other();
  collectives.push_back(
      [&of, kind, v, comm] { kind == 0 ? of.reduce_scatter(comm, v) : of.all_reduce(comm, v); });
  const ncclDataType_t type = of.pick(2) == 0 ? ncclFloat32 : ncclInt32;
  for (unsigned at = 0; at < messages; ++at) {
    const float of_this = of.number();
    rings.push_back([&of, of_this, type] {
      ncclGroupStart();
      of.send(of_this, of.next(), type);
      of.receive(of_this, of.before(), type);
      check(ncclGroupEnd(), "inner group");
    });
  }
  if (groups) ncclGroupStart();
  const bool mixes = groups && comm == of.one();
  unsigned early = mixes ? of.pick_own(messages + 1) : 0;
  for (unsigned at = 0; at < early; ++at) rings[at]();
  collectives[0]();
  for (unsigned at = early; at < messages; ++at) rings[at]();
  if (groups) check(ncclGroupEnd(), "group");
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, void (*)(Calls&)> cases{
      {"shuffled", shuffled},   {"one-sided", one_sided}, {"two", two},
      {"exchanged", exchanged}, {"beside", beside},       {"mixed", mixed},
      {"refused", refused},     {"three", three},         {"random", random}};
  const auto calls = count > 2 ? std::atoi(words[2]) : 100;
  const auto seed = static_cast<unsigned>(count > 3 ? std::atoi(words[3]) : 1);
  const auto step = cases.at(words[1]);
  ranks::run(2 + static_cast<int>(seed % 2), [&](ranks::Rank& self) {
    Calls of(self, seed);
    for (int call = 0; call < calls; ++call) {
      step(of);
      if (call % 4 == 3) of.look();
    }
    of.look();
  });
  std::puts(failures == 0 ? "ok" : "failed");
  return failures == 0 ? 0 : 1;
}
