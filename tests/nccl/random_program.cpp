// Random legal NCCL programs, which know nothing of Thinwire and check every result to the bit:
// operations, types, counts, values up to the largest and down to the smallest, and places that
// change at every call, three communicators on two streams, groups of all kinds, hosts that run
// ahead or come late. Prints "ok".
//
// With NCCL_COMM_BLOCKING=0 its communicators do not block.
//
// random_program SEED CALLS
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "random_values.h"
#include "ranks.h"

namespace random_program {
namespace {

std::atomic<int> failures{0};

enum Kind { kAllReduce, kReduce, kReduceScatter, kAllGather, kBroadcast, kKinds };

void expect_success(int line, ncclResult_t got) {
  const ncclResult_t result = ranks::final_result(got);
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "line %d: a call has returned %d\n", line, result);
  ++failures;
}

// The same on all ranks.
struct Asked {
  int kind;
  ncclDataType_t type;
  ncclRedOp_t op;
  bool multiplied;  // a sum of the program's own, by each rank's factor
  std::size_t count;
  int root;
  bool in_place;
  int comm;
  int stream;
  bool noise;
  Size size;
  std::uint32_t id;

  bool reduces() const { return kind <= kReduceScatter; }
};

// A call under way: its buffers, and what has to be there in the end.
struct UnderWay {
  Bytes expected;
  const std::byte* result = nullptr;
  std::string name;
};

class Program {
 public:
  Program(ranks::Rank& self, unsigned seed, unsigned calls)
      : self_(self),
        common_(seed),
        own_(seed * 31 + static_cast<unsigned>(self.rank)),
        most_(calls) {
    for (cudaStream_t& each : streams_) cudaStreamCreate(&each);
    comms_[0] = self.comm;
    split(0, comms_[1]);
    split(self.rank % 2, comms_[2]);
    ranks::comms_of_thread() = {comms_[0], comms_[1], comms_[2]};
    for (std::size_t& each : counts_) each = 600 + pick(1 << (4 + pick(10)));
    for (Asked& each : usual_) each = any();
  }

  ~Program() {
    check_all();
    ncclCommDestroy(comms_[1]);
    ncclCommDestroy(comms_[2]);
    for (cudaStream_t each : streams_) cudaStreamDestroy(each);
  }

  void run() {
    while (calls_ < most_ && failures == 0) {
      turns_ = calls_ > most_ / 3 * 2;
      const unsigned step = pick(100);
      if (step < 50) {
        collective(asked());
      } else if (step < 70) {
        mixed_group();
      } else if (step < 85) {
        uneven_messages();
      } else if (step < 90) {
        if (!world::kOnGpus && own_() % 2 == 0) simulated_group();
      } else if (step < 95) {
        if (own_() % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(own_() % 5));
      } else {
        check_all();
      }
      if (under_way_.size() > 60) check_all();
    }
  }

 private:
  // If communicators do not block, the parent, and then the part, may be in progress whatever the
  // call has returned: NCCL refuses the next call until both say otherwise.
  void split(int color, ncclComm_t& made) {
    ncclResult_t result = ncclCommSplit(self_.comm, color, self_.rank, &made, nullptr);
    if (result == ncclSuccess || result == ncclInProgress) result = ranks::state_of(self_.comm);
    if (result == ncclSuccess) result = ranks::state_of(made);
    expect_success(__LINE__, result);
  }

  unsigned pick(unsigned below) { return static_cast<unsigned>(common_() % below); }

  // The ranks of a communicator, as ranks of all.
  std::vector<int> members(int comm) const {
    std::vector<int> found;
    for (int rank = 0; rank < self_.ranks; ++rank) {
      if (comm != 2 || rank % 2 == self_.rank % 2) found.push_back(rank);
    }
    return found;
  }

  // Mostly one of a few, as programs repeat themselves.
  Asked asked() {
    constexpr Size kSizes[] = {Size::kUsual, Size::kUsual, Size::kLargest, Size::kSmallest};
    Asked made = pick(5) == 0 ? any() : usual_[pick(kUsual)];
    made.in_place = pick(2) == 0;
    made.stream = static_cast<int>(pick(2));
    made.noise = turns_ && pick(3) == 0;
    made.size = kSizes[pick(4)];
    made.id = ++calls_;
    return made;
  }

  Asked any() {
    constexpr ncclDataType_t kTypes[] = {ncclFloat32, ncclFloat32, ncclBfloat16,
                                         ncclFloat16, ncclFloat64, ncclInt32};
    constexpr ncclRedOp_t kOps[] = {ncclSum, ncclSum, ncclSum, ncclAvg,
                                    ncclAvg, ncclAvg, ncclMax, ncclMin};
    Asked made{};
    made.kind = static_cast<int>(pick(kKinds));
    made.type = kTypes[pick(6)];
    made.op = pick(16) == 0 ? ncclProd : kOps[pick(8)];
    made.multiplied = made.op == ncclSum && made.type != ncclInt32 && pick(2) == 0;
    // Means of other numbers of ranks are rounded in ways of their own.
    if (made.op == ncclAvg && (self_.ranks == 3 || made.type == ncclInt32)) made.op = ncclSum;
    made.count = pick(8) == 0 ? pick(3000) : counts_[pick(3)];
    // Half of a communicator has one rank if there are three.
    made.comm = pick(3) == 0 ? static_cast<int>(pick(3)) : 0;
    made.root = static_cast<int>(pick(static_cast<unsigned>(self_.ranks))) %
                (made.comm == 2 ? self_.ranks / 2 : self_.ranks);
    return made;
  }

  // Sums are finite and exact, and so are products, of ones and twos.
  static double number(const Asked& of, int rank, std::size_t at) {
    const double usual = value(of.type, rank, of.id, at, of.noise);
    if (!of.reduces()) return std::ldexp(usual, power_of(of.type, of.size, 0));
    if (of.op == ncclProd) return std::fmod(usual, 2) == 0 ? 1 : usual > 0 ? 2 : -2;
    const int spare = of.multiplied ? 1 : of.op == ncclSum ? 2 : 0;
    return std::ldexp(usual, power_of(of.type, of.size, spare));
  }

  static Bytes values(const Asked& of, int rank, std::size_t count) {
    Bytes made(count * size_of(of.type));
    for (std::size_t at = 0; at < count; ++at) store(made, at, of.type, number(of, rank, at));
    return made;
  }

  static Bytes sums(const Asked& of, const std::vector<int>& ranks, std::size_t first) {
    Bytes made(of.count * size_of(of.type));
    std::vector<double> numbers(ranks.size());
    for (std::size_t at = 0; at < of.count; ++at) {
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        numbers[rank] = stored(of.type, number(of, ranks[rank], first + at));
        if (of.multiplied) numbers[rank] *= factor(ranks[rank]);
      }
      store(made, at, of.type, combined(of.type, of.op, numbers));
    }
    return made;
  }

  // Buffers lie at elements, anywhere.
  static std::size_t off(const Asked& of) { return of.id % 3 * size_of(of.type); }

  UnderWay& begin(std::string name) {
    under_way_.push_back(std::make_unique<UnderWay>());
    under_way_.back()->name = std::move(name);
    return *under_way_.back();
  }

  void collective(const Asked& of) {
    const std::vector<int> ranks = members(of.comm);
    const auto own =
        static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), self_.rank) - ranks.begin());
    const std::size_t block = of.count * size_of(of.type);
    const bool many = of.kind == kReduceScatter;
    UnderWay& call = begin("kind " + std::to_string(of.kind) + " type " + std::to_string(of.type) +
                           " count " + std::to_string(of.count) + " id " + std::to_string(of.id));
    const Bytes own_values = values(of, self_.rank, of.count * (many ? ranks.size() : 1));
    std::byte* receive = arena_.take(block * (of.kind == kAllGather ? ranks.size() : 1), off(of));
    std::byte* send = nullptr;
    if (of.in_place && of.kind == kAllGather) {
      send = receive + own * block;
      world::write(send, own_values.data(), block);
    } else {
      send = arena_.take(own_values, off(of));
      if (of.in_place) receive = send + (many ? own * block : 0);
    }
    call.result = receive;
    const cudaStream_t stream = streams_[of.stream];
    const ncclComm_t comm = comms_[of.comm];
    const bool own_sum = of.multiplied && of.reduces();
    ncclRedOp_t op = of.op;
    if (own_sum) {
      Bytes scalar(size_of(of.type));
      store(scalar, 0, of.type, factor(self_.rank));
      const bool read_later = own_() % 2 == 0;
      expect_success(__LINE__, ncclRedOpCreatePreMulSum(
                                   &op, read_later ? arena_.take(scalar) : scalar.data(), of.type,
                                   read_later ? ncclScalarDevice : ncclScalarHostImmediate, comm));
    }
    switch (of.kind) {
      case kAllReduce:
        call.expected = sums(of, ranks, 0);
        expect_success(__LINE__, ncclAllReduce(send, receive, of.count, of.type, op, comm, stream));
        break;
      case kReduce:
        if (static_cast<int>(own) == of.root) call.expected = sums(of, ranks, 0);
        expect_success(__LINE__,
                       ncclReduce(send, receive, of.count, of.type, op, of.root, comm, stream));
        break;
      case kReduceScatter:
        call.expected = sums(of, ranks, own * of.count);
        expect_success(__LINE__,
                       ncclReduceScatter(send, receive, of.count, of.type, op, comm, stream));
        break;
      case kAllGather:
        for (const int rank : ranks) {
          const Bytes theirs = values(of, rank, of.count);
          call.expected.insert(call.expected.end(), theirs.begin(), theirs.end());
        }
        expect_success(__LINE__, ncclAllGather(send, receive, of.count, of.type, comm, stream));
        break;
      default:
        call.expected = values(of, ranks[static_cast<std::size_t>(of.root)], of.count);
        expect_success(__LINE__,
                       ncclBroadcast(send, receive, of.count, of.type, of.root, comm, stream));
    }
    if (own_sum) expect_success(__LINE__, ncclRedOpDestroy(op, comm));
  }

  void send(const Asked& of, int peer) {
    const std::byte* const from = arena_.take(values(of, self_.rank, of.count), off(of));
    begin("send");
    expect_success(__LINE__,
                   ncclSend(from, of.count, of.type, peer, comms_[0], streams_[of.stream]));
  }

  void receive(const Asked& of, int peer) {
    UnderWay& call =
        begin("message of " + std::to_string(peer) + " type " + std::to_string(of.type) +
              " count " + std::to_string(of.count) + " id " + std::to_string(of.id));
    call.expected = values(of, peer, of.count);
    std::byte* const to = arena_.take(call.expected.size(), off(of));
    call.result = to;
    expect_success(__LINE__, ncclRecv(to, of.count, of.type, peer, comms_[0], streams_[of.stream]));
  }

  // Rings of messages, by any distance, between collectives of several communicators.
  void mixed_group() {
    const unsigned calls = 1 + pick(4);
    const int stream = static_cast<int>(pick(2));
    const bool nested = pick(3) == 0;
    ncclGroupStart();
    for (unsigned at = 0; at < calls; ++at) {
      const Asked of = asked();
      if (pick(3) == 0) {
        collective(of);
        continue;
      }
      Asked message = of;
      message.stream = stream;
      const int distance =
          pick(4) != 0 ? 1 : static_cast<int>(pick(static_cast<unsigned>(self_.ranks)));
      if (nested) ncclGroupStart();
      send(message, (self_.rank + distance) % self_.ranks);
      receive(message, (self_.rank - distance + self_.ranks) % self_.ranks);
      if (nested) expect_success(__LINE__, ncclGroupEnd());
    }
    expect_success(__LINE__, ncclGroupEnd());
  }

  // Some ranks alone simulate a group: nothing comes of it.
  void simulated_group() {
    world::Bytes mine(4 * 9000), all(mine.size() * static_cast<std::size_t>(self_.ranks));
    const ncclComm_t comm = comms_[own_() % 2];
    const int next = (self_.rank + 1) % self_.ranks;
    ncclSimInfo_t info{sizeof(ncclSimInfo_t), 0x74685283, 22809, 0};
    ncclGroupStart();
    for (unsigned call = 0; call < 1 + own_() % 3; ++call) {
      expect_success(__LINE__, ncclAllGather(mine.data(), all.data(), counts_[0], ncclFloat32, comm,
                                             streams_[0]));
      expect_success(__LINE__,
                     ncclSend(mine.data(), counts_[1], ncclFloat32, next, comms_[0], streams_[0]));
      expect_success(__LINE__,
                     ncclRecv(all.data(), counts_[1], ncclFloat32, next, comms_[0], streams_[0]));
    }
    expect_success(__LINE__, ncclGroupSimulateEnd(&info));
  }

  // One rank has them in a group and the other one has not.
  void uneven_messages() {
    const int giver = static_cast<int>(pick(static_cast<unsigned>(self_.ranks)));
    const int taker = (giver + 1) % self_.ranks;
    // NCCL itself may begin the answer's receive and wait in it before it goes on with what is
    // sent.
    const bool answers = pick(2) == 0 && !world::kOnGpus;
    std::vector<Asked> messages{asked(), asked(), asked()};
    for (Asked& each : messages) each.stream = messages[0].stream;
    if (self_.rank == giver) {
      ncclGroupStart();
      for (const Asked& each : messages) send(each, taker);
      if (answers) receive(messages[0], taker);
      expect_success(__LINE__, ncclGroupEnd());
    } else if (self_.rank == taker) {
      for (const Asked& each : messages) receive(each, giver);
      if (answers) send(messages[0], giver);
    }
  }

  void check_all() {
    for (cudaStream_t each : streams_) cudaStreamSynchronize(each);
    for (const auto& each : under_way_) {
      if (each->expected == world::read(each->result, each->expected.size())) continue;
      std::fprintf(stderr, "rank %d: wrong: %s\n", self_.rank, each->name.c_str());
      ++failures;
    }
    under_way_.clear();
    arena_.give_back_all();
  }

  ranks::Rank& self_;
  std::mt19937 common_, own_;
  unsigned most_;
  bool turns_ = false;
  std::uint32_t calls_ = 0;
  std::size_t counts_[3] = {};
  static constexpr unsigned kUsual = 6;
  Asked usual_[kUsual] = {};
  ncclComm_t comms_[3] = {};
  cudaStream_t streams_[2] = {};
  world::Arena arena_;
  std::vector<std::unique_ptr<UnderWay>> under_way_;
};

}  // namespace
}  // namespace random_program

int main(int count, char** words) {
  const unsigned seed = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 1;
  const auto calls = static_cast<unsigned>(count > 2 ? std::atoi(words[2]) : 800);
  ranks::run(2 + static_cast<int>(seed % 3),
             [&](ranks::Rank& self) { random_program::Program(self, seed, calls).run(); });
  std::puts(random_program::failures == 0 ? "ok" : "failed");
  return random_program::failures == 0 ? 0 : 1;
}
