// Calls that are coded against the results of earlier ones: the result is always exact, and what
// hardly changed is small.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>

#include "member.h"

namespace thinwire::slots {
namespace {

constexpr std::uint64_t kLength = 20'000;
constexpr std::uint64_t kArray = kLength * 4;
constexpr std::uint64_t kMany = 64 << 20;
constexpr std::uint64_t kTable = 8192;  // before the first result (spec/slot.md)

struct Asked {
  std::uint32_t operation = TW_STREAM_ALLGATHER;
  int ranks = 3, root = 0;
  std::uint64_t reference_bytes = kMany;
  std::uint32_t capacity = 512;
  bool in_place = false;
  std::string spec = "mpc";
  std::vector<std::uint32_t> nodes = {};
};

// Noise, of which each step changes few values by little.
Bytes array(int layer, int rank, int step) {
  Bytes values = values_of(TW_F32, kLength, 100 * layer + rank, Data::kNoise);
  std::mt19937 random(static_cast<unsigned>(layer));
  for (int at = 0; at < 200 * step; ++at) {
    std::uint32_t word = 0;
    std::byte* const place = values.data() + 4 * (random() % kLength);
    std::memcpy(&word, place, 4);
    word += 3;
    std::memcpy(place, &word, 4);
  }
  return values;
}

// A rank whose calls share references.
class Rank {
 public:
  Rank(World& world, int rank, const Asked& asked)
      : asked_(asked),
        rank_(rank),
        codec_(asked.spec),
        comm_(make_comm(world, rank, true, asked.nodes)),
        mailbox_(16 * 1024),
        references_(asked.reference_bytes, 256) {
    std::memset(references_.get(), 0xA5, asked.reference_bytes);
  }

  // The report of a call with these values, one array a rank.
  tw_stream_report make(const std::vector<Bytes>& sent, std::uint64_t number, Carrier& carrier,
                        tw_status expected = TW_OK) {
    auto options = options_of(asked_.operation, TW_F32, kLength, codec_.handle.get());
    options.reference_bytes = asked_.reference_bytes;
    options.capacity[0] = asked_.capacity;
    if (is_bcast()) options.peer = asked_.root;
    const Plan plan = make_plan(comm_, options);
    const Lent lent(plan);
    const std::uint64_t blocks = is_bcast() ? 1 : sent.size();
    Memory receive(blocks * kArray), send(kArray);
    std::byte* from = send.get();
    if (asked_.in_place) from = receive.get() + (is_bcast() ? 0 : index() * kArray);
    std::memcpy(from, sent[index()].data(), kArray);
    carrier.serve(rank_, mailbox_.memory);
    tw_stream_call call{};
    call.size = sizeof call;
    call.plan = plan.get();
    call.number = number;
    call.send = from;
    call.receive = receive.get();
    call.mailbox = mailbox_.memory;
    call.references = references_.get();
    call.clears_references = is_first_ ? 1 : 0;
    is_first_ = false;
    call.stream = &stream_;
    lent.lend(call);
    EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
    stream_.wait();
    carrier.stop_serving(mailbox_.memory);
    for (std::uint64_t at = first_; at < blocks && (first_ > 0 || expected == TW_OK); ++at) {
      const std::uint64_t of = is_bcast() ? static_cast<std::uint64_t>(asked_.root) : at;
      EXPECT_TRUE(same(receive.get() + at * kArray, sent[of])) << "block " << at;
    }
    result_.assign(receive.get(), receive.get() + blocks * kArray);
    return check(plan, lent.record, expected);
  }

  void use(std::uint32_t operation) { asked_.operation = operation; }

  // No block of the result before it is looked at.
  void compare_from(std::uint64_t block) { first_ = block; }

  const Bytes& result() const { return result_; }
  std::byte* references() { return references_.get(); }

 private:
  bool is_bcast() const { return asked_.operation == TW_STREAM_BCAST; }
  std::size_t index() const { return static_cast<std::size_t>(rank_); }

  Asked asked_;
  int rank_;
  Codec codec_;
  Comm comm_;
  Mailbox mailbox_;
  Memory references_;
  bool is_first_ = true;
  std::uint64_t first_ = 0;
  Bytes result_;
  Stream stream_;
};

std::vector<Bytes> arrays(const Asked& asked, int layer, int step) {
  std::vector<Bytes> all;
  for (int rank = 0; rank < asked.ranks; ++rank) all.push_back(array(layer, rank, step));
  return all;
}

// Every layer at each step; what the first rank's reports say of the last step.
std::vector<tw_stream_report> run_steps(const Asked& asked, int layers, int steps) {
  World world(asked.ranks);
  Carrier carrier;
  std::vector<tw_stream_report> last;
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    std::uint64_t number = 0;
    for (int step = 0; step < steps; ++step) {
      for (int layer = 0; layer < layers; ++layer) {
        const auto report = own.make(arrays(asked, layer, step), ++number, carrier);
        if (rank == asked.root && step == steps - 1) last.push_back(report);
      }
    }
  });
  return last;
}

void expect_differences(const Asked& asked) {
  const auto last = run_steps(asked, 3, 3);
  const auto blocks =
      static_cast<std::uint64_t>(asked.operation == TW_STREAM_BCAST ? 1 : asked.ranks);
  for (const tw_stream_report& report : last) {
    EXPECT_EQ(report.difference_bytes, blocks * kArray);
    EXPECT_LT(report.needed[0], 200U);
  }
}

TEST(References, WhatHardlyChangedIsSmall) {
  for (const std::uint32_t operation : {TW_STREAM_ALLGATHER, TW_STREAM_BCAST}) {
    for (const bool in_place : {false, true}) {
      for (const char* const spec : {"mpc", "expack", "lorenzo", "auto"}) {
        expect_differences({.operation = operation, .root = 1, .in_place = in_place, .spec = spec});
      }
    }
  }
}

TEST(References, NodesShareWhatCame) {
  expect_differences({.ranks = 4, .nodes = {0, 0, 1, 1}});
  expect_differences({.ranks = 3, .nodes = {0, 0, 1}});
  expect_differences({.operation = TW_STREAM_BCAST, .ranks = 4, .nodes = {0, 0, 1, 1}});
}

TEST(References, DifferencesThatDoNotFitAreSpilled) {
  for (const std::uint32_t operation : {TW_STREAM_ALLGATHER, TW_STREAM_BCAST}) {
    const auto last = run_steps({.operation = operation, .capacity = 1}, 2, 2);
    EXPECT_EQ(last.front().spilled_out, 1U);
  }
}

TEST(References, ValuesThatHaveNothingInCommonGoAsTheyAre) {
  const Asked asked{.ranks = 2};
  World world(asked.ranks);
  Carrier carrier;
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    for (int layer = 0; layer < 4; ++layer) {
      const auto report =
          own.make(arrays(asked, layer, 0), static_cast<std::uint64_t>(layer), carrier);
      EXPECT_EQ(report.difference_bytes, 0U);
    }
  });
}

// Two results fit; three layers come round, and then other ones for long.
TEST(References, MemoryThatIsTooSmallForAll) {
  const std::uint64_t result = 3 * kArray + 512;
  const Asked asked{.reference_bytes = kTable + 2 * result};
  const auto few = run_steps(asked, 3, 4);
  EXPECT_GT(few[0].difference_bytes + few[1].difference_bytes + few[2].difference_bytes, 0U);
  EXPECT_EQ(run_steps({.reference_bytes = 4096}, 1, 2)[0].difference_bytes, 0U);

  World world(asked.ranks);
  Carrier carrier;
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    std::uint64_t number = 0, found = 0;
    for (int turn = 0; turn < 40; ++turn) {
      const int layer = turn < 2 ? turn : 10 + turn % 4 / 2;
      found = own.make(arrays(asked, layer, 0), ++number, carrier).difference_bytes;
    }
    EXPECT_GT(found, 0U) << "the first results still hold all memory";
  });
}

// Results of another kind fill the memory: they are forgotten once others have found no place for
// long.
TEST(References, ResultsOfAnotherKindGiveWay) {
  const Asked asked{.reference_bytes = kTable + 2 * (3 * kArray + 512)};
  World world(asked.ranks);
  Carrier carrier;
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    std::uint64_t number = 0;
    for (int layer = 0; layer < 2; ++layer) own.make(arrays(asked, layer, 0), ++number, carrier);
    own.use(TW_STREAM_BCAST);
    std::vector<std::uint64_t> differ;
    for (int turn = 0; turn < 30; ++turn) {
      differ.push_back(own.make(arrays(asked, 5, turn), ++number, carrier).difference_bytes);
    }
    EXPECT_EQ(differ[23], 0U);
    EXPECT_EQ(differ.back(), kArray);
  });
}

// Ranks go through the same calls, whose blocks come and go at random.
TEST(References, RandomLayersAndSteps) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Asked asked{.reference_bytes = 1'000'000};
    World world(asked.ranks);
    Carrier carrier;
    std::vector<Bytes> tables(3);
    std::atomic<std::uint64_t> differences{0};
    on_ranks(asked.ranks, [&](int rank) {
      Rank own(world, rank, asked);
      std::mt19937 random(seed);
      for (std::uint64_t number = 1; number <= 60; ++number) {
        std::vector<Bytes> sent;
        for (int of = 0; of < asked.ranks; ++of) {
          const int layer = static_cast<int>(random() % 6), step = static_cast<int>(random() % 4);
          sent.push_back(array(layer, of, step));
        }
        differences += own.make(sent, number, carrier).difference_bytes;
      }
      tables[static_cast<std::size_t>(rank)].assign(own.references(), own.references() + kTable);
    });
    EXPECT_GT(differences, 0U);
    EXPECT_TRUE(tables[0] == tables[1] && tables[0] == tables[2]);
  }
}

// Calls on two streams by turns, all enqueued before the first has run.
TEST(References, CallsOfSeveralStreamsFollowEachOther) {
  constexpr int kRanks = 2, kCalls = 12;
  World world(kRanks);
  Carrier carrier;
  std::atomic<std::uint64_t> differences{0};
  on_ranks(kRanks, [&](int rank) {
    Memory references(kMany, 256);
    Member own(world, rank);
    Stream other;
    const Mailbox of_other(16 * 1024);
    carrier.serve(rank, own.mailbox.memory);
    carrier.serve(rank, of_other.memory);
    const Plan plan = own.plan(TW_STREAM_ALLGATHER, kLength, [](tw_stream_plan_options& options) {
      options.reference_bytes = kMany;
    });
    std::vector<Bytes> sent;
    std::vector<Memory> results;
    std::vector<Lent> lent;
    for (int at = 0; at < kCalls; ++at) {
      sent.push_back(array(at % 3, rank, at));
      results.emplace_back(kRanks * kArray);
      lent.emplace_back(plan);
    }
    for (std::size_t at = 0; at < kCalls; ++at) {
      tw_stream_call call = own.call(plan, lent[at], at, sent[at].data(), results[at]);
      call.references = references;
      call.clears_references = at == 0 ? 1 : 0;
      if (at % 2 == 1) call.stream = &other;
      if (at % 2 == 1) call.mailbox = of_other.memory;
      own.enqueue(call);
    }
    own.stream.wait();
    other.wait();
    for (std::size_t at = 0; at < kCalls; ++at) {
      differences += check(plan, lent[at].record).difference_bytes;
      for (int of = 0; of < kRanks; ++of) {
        const std::byte* const block = results[at].get() + static_cast<std::size_t>(of) * kArray;
        const auto turn = static_cast<int>(at);
        EXPECT_TRUE(same(block, array(turn % 3, of, turn))) << "call " << at << " block " << of;
      }
    }
    carrier.stop_serving(own.mailbox.memory);
    carrier.stop_serving(of_other.memory);
  });
  EXPECT_EQ(differences, kRanks * (kCalls - 3) * kRanks * kArray);
}

// A reference that one rank alone has lost is told of, and never decoded against.
TEST(References, AnotherReferenceIsAnError) {
  const Asked asked{.ranks = 2};
  World world(asked.ranks);
  Carrier carrier;
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    own.make(arrays(asked, 0, 0), 1, carrier);
    // The sum of the first rank's block, after the table and the blocks.
    const std::uint64_t sums = kTable + 2 * kArray / 256 * 256;
    if (rank == 1) own.references()[sums] ^= std::byte{1};
    own.make(arrays(asked, 0, 1), 2, carrier, rank == 1 ? TW_DAMAGED : TW_OK);
    if (rank == 1) {
      EXPECT_TRUE(all_nan(own.result().data(), kLength));
    }
  });
}

TEST(References, WordsOfAnotherCallAreAnError) {
  const Asked asked{.ranks = 2};
  World world(asked.ranks);
  Carrier carrier;
  world.tamper([&](int from, int, std::byte* data, std::uint64_t bytes) {
    if (from == 0 && bytes == 512) data[8] ^= std::byte{4};
  });
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    own.make(arrays(asked, 0, 0), 1, carrier, rank == 1 ? TW_DAMAGED : TW_OK);
    if (rank == 1) {
      EXPECT_TRUE(all_nan(own.result().data(), kLength));
    }
  });
}

// The header of the second call's slot; its block is a difference.
TEST(References, DamagedSlotsAreErrors) {
  const Asked asked{.ranks = 2};
  World world(asked.ranks);
  Carrier carrier;
  int slots = 0;
  world.tamper([&](int from, int, std::byte* data, std::uint64_t bytes) {
    if (from == 0 && bytes > 512 && ++slots == 2) data[8] ^= std::byte{4};
  });
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    own.make(arrays(asked, 0, 0), 1, carrier);
    own.make(arrays(asked, 0, 1), 2, carrier, rank == 1 ? TW_DAMAGED : TW_OK);
    if (rank == 1) {
      EXPECT_TRUE(all_nan(own.result().data(), kLength));
    }
  });
  EXPECT_EQ(slots, 2);
}

// The one of two ranks on a node that had the slot says so, and the other gets what it has.
TEST(References, DamagedSlotsAreNanOnAllOfANode) {
  const Asked asked{.ranks = 4, .nodes = {0, 0, 1, 1}};
  World world(asked.ranks);
  Carrier carrier;
  int slots = 0;
  world.tamper([&](int from, int to, std::byte* data, std::uint64_t bytes) {
    if (from == 0 && to == 2 && bytes > 512 && ++slots == 2) data[8] ^= std::byte{4};
  });
  on_ranks(asked.ranks, [&](int rank) {
    Rank own(world, rank, asked);
    own.make(arrays(asked, 0, 0), 1, carrier);
    const auto sent = arrays(asked, 0, 1);
    if (rank < 2) {
      EXPECT_EQ(own.make(sent, 2, carrier).difference_bytes, 4 * kArray);
      return;
    }
    own.compare_from(1);
    own.make(sent, 2, carrier, rank == 2 ? TW_DAMAGED : TW_OK);
    EXPECT_TRUE(all_nan(own.result().data(), kLength));
  });
  EXPECT_EQ(slots, 2);
}

// They would look for references before either has kept its result.
TEST(References, TwoCallsOfAGroupAreRefused) {
  World world(2);
  Member member(world, 0);
  const Plan plan = member.plan(TW_STREAM_ALLGATHER, kLength, [](tw_stream_plan_options& options) {
    options.reference_bytes = kMany;
  });
  const Lent lent(plan), other(plan);
  Memory values(kArray), result(2 * kArray), references(kMany, 256);
  tw_stream_call calls[] = {member.call(plan, lent, 1, values, result),
                            member.call(plan, other, 2, values, result)};
  for (tw_stream_call& call : calls) call.references = references;
  EXPECT_EQ(tw_stream_enqueue(calls, 2), TW_INVALID_ARGUMENT);
  calls[0].references = nullptr;
  EXPECT_EQ(tw_stream_enqueue(calls, 1), TW_INVALID_ARGUMENT);
}

TEST(References, PlansSayWhetherTheyHaveAny) {
  World world(2);
  Member member(world, 0, "mpc"), lossy(world, 1, "zfp:rate=8");
  const auto has = [](Member& of, std::uint32_t operation, std::uint64_t bytes, auto... flags) {
    const Plan plan = of.plan(operation, kLength, [&](tw_stream_plan_options& options) {
      options.reference_bytes = bytes;
      ((options.flags |= flags), ...);
    });
    return describe(plan).has_references;
  };
  EXPECT_EQ(has(member, TW_STREAM_ALLGATHER, kMany), 1U);
  EXPECT_EQ(has(member, TW_STREAM_BCAST, kMany), 1U);
  EXPECT_EQ(has(member, TW_STREAM_ALLGATHER, kArray), 0U);
  EXPECT_EQ(has(member, TW_STREAM_ALLGATHER, kMany, TW_STREAM_TRIAL), 0U);
  EXPECT_EQ(has(member, TW_STREAM_ALLREDUCE, kMany), 0U);
  EXPECT_EQ(has(lossy, TW_STREAM_ALLGATHER, kMany), 0U);
}

}  // namespace
}  // namespace thinwire::slots
