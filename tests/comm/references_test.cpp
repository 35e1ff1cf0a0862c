// Calls coded against results of earlier ones: the same bits as without, on every rank, whatever
// the sequence of calls.
#include <atomic>
#include <mutex>

#include "brief.h"
#include "evolving.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

TEST(References, StepsOfLayersOfOneSize) {
  constexpr int kLayers = 5, kSteps = 4;
  for (const int size : {2, 3, 5}) {
    std::atomic<std::uint64_t> first = 0, later = 0;
    run_ranks(size, with_references(16 * kMiB), [&](Communicator& communicator) {
      std::vector<Evolving> layers;
      for (int layer = 0; layer < kLayers; ++layer) {
        layers.emplace_back(Dtype::kBf16, 300'000, 7 + static_cast<std::uint64_t>(layer));
      }
      for (int step = 0; step < kSteps; ++step) {
        for (int layer = 0; layer < kLayers; ++layer) {
          Evolving& array = layers[static_cast<std::size_t>(layer)];
          const Moved moved = move(communicator, array, {.in_place = layer % 2 == 1});
          ASSERT_TRUE(moved.status.ok()) << moved.status.message();
          EXPECT_TRUE(moved.is_right);
          EXPECT_EQ(moved.report.reference_results,
                    static_cast<std::uint64_t>(step == 0 ? layer + 1 : kLayers));
          EXPECT_LE(moved.report.reference_bytes, 16 * kMiB);
          (step == 0 ? first : later) += moved.report.tally.wire_bytes;
          if (step > 0) {
            EXPECT_GT(moved.report.tally.delta_packets, 0u);
          }
          if (step == 0) {
            EXPECT_EQ(moved.report.tally.delta_packets, 0u);
          }
          array.step();
        }
      }
    });
    // Three steps against one.
    EXPECT_LT(static_cast<double>(later), 1.5 * static_cast<double>(first));
  }
}

// Every schedule that moves the values of Bcast and Allgather.
TEST(References, EverySchedule) {
  for (const collective::Row& row : collective::algorithms()) {
    if (row.operation != Operation::kBcast && row.operation != Operation::kAllgather) continue;
    for (const std::vector<std::int32_t>& nodes :
         {std::vector<std::int32_t>{}, std::vector<std::int32_t>{0, 0, 1, 1}}) {
      Options options = with_references(16 * kMiB);
      options.nodes = nodes;
      options.threads = nodes.empty() ? 2 : 0;
      std::atomic<std::uint64_t> deltas = 0;
      run_ranks(4, options, [&](Communicator& communicator) {
        Evolving array(Dtype::kF32, 200'000, 11);
        for (int step = 0; step < 3; ++step) {
          const Moved moved = move(communicator, array,
                                   {.operation = row.operation,
                                    .root = step % 4,
                                    .varied = step == 2,
                                    .algorithm = row.algorithm,
                                    .coding = row.coding});
          ASSERT_TRUE(moved.status.ok()) << moved.status.message();
          EXPECT_TRUE(moved.is_right);
          deltas += moved.report.tally.delta_packets;
          array.step();
        }
      });
      EXPECT_GT(deltas, 0u) << collective::algorithm_name(row.algorithm) << " "
                            << collective::coding_name(row.coding);
    }
  }
}

// Sizes, types, operations, roots and forms at random, in memory that holds a part of it.
void run_random(int size, std::uint64_t limit, std::uint64_t seed, const char* spec) {
  std::atomic<std::uint64_t> deltas = 0;
  Options options = with_references(limit, spec);
  options.link_bytes_per_second = 1.25e6;
  options.piece_bytes = 0;
  run_ranks(size, options, [&](Communicator& communicator) {
    std::mt19937_64 random(seed);  // the same on all ranks
    constexpr Dtype kTypes[] = {Dtype::kBf16, Dtype::kF32, Dtype::kF16, Dtype::kBf16};
    std::vector<Evolving> arrays;
    for (int at = 0; at < 4; ++at) {
      const std::uint64_t count = 70'000 + random() % 300'000;
      arrays.emplace_back(kTypes[at], at == 3 ? arrays[0].count() : count, random());
    }
    arrays.emplace_back(Dtype::kF32, random() % 1000, random());
    for (int call = 0; call < (is_brief() ? 24 : 60); ++call) {
      const std::size_t which = random() % arrays.size();
      Evolving& array = arrays[which];
      // The same operation for the most part, as in programs.
      const bool gathers = (which + (random() % 4 == 0 ? 1 : 0)) % 2 == 0;
      const How how{.operation = gathers ? Operation::kAllgather : Operation::kBcast,
                    .root = static_cast<int>(random() % static_cast<std::uint64_t>(size)),
                    .in_place = random() % 2 == 0,
                    .varied = random() % 3 == 0};
      const Moved moved = move(communicator, array, how);
      ASSERT_TRUE(moved.status.ok()) << moved.status.message();
      EXPECT_TRUE(moved.is_right) << "call " << call;
      EXPECT_LE(moved.report.reference_bytes, limit);
      deltas += moved.report.tally.delta_packets;
      if (random() % 2 == 0) array.step();
    }
  });
  EXPECT_GT(deltas, 0u);
}

TEST(References, RandomSequences) {
  for (const int size : {2, 3, 4, 5}) {
    const bool is_even = size % 2 == 0;
    const auto seed = static_cast<std::uint64_t>(size);
    if (is_even || !is_brief()) run_random(size, 64 * kMiB, seed, "auto");
    if (!is_even || !is_brief()) run_random(size, 2 * kMiB, seed + 10, "expack");
  }
}

// More layers than there is room for: those that are kept stay useful.
TEST(References, MemoryForAPartOfAStep) {
  constexpr int kLayers = 8, kSteps = 6;
  std::atomic<std::uint64_t> coded = 0;
  run_ranks(2, with_references(5 * 620'000), [&](Communicator& communicator) {
    std::vector<Evolving> layers;
    for (int layer = 0; layer < kLayers; ++layer) {
      layers.emplace_back(Dtype::kBf16, 300'000, 70 + static_cast<std::uint64_t>(layer));
    }
    for (int step = 0; step < kSteps; ++step) {
      for (Evolving& array : layers) {
        const Moved moved = move(communicator, array, {});
        ASSERT_TRUE(moved.status.ok()) << moved.status.message();
        EXPECT_TRUE(moved.is_right);
        EXPECT_LE(moved.report.reference_bytes, 5u * 620'000);
        if (communicator.rank() == 0) coded += moved.report.tally.delta_packets > 0;
        array.step();
      }
    }
  });
  // Five of eight from the second step on, less what one in sixteen costs.
  EXPECT_GE(coded, 5u * (kSteps - 1) - 4);
}

// Values that are never alike, and values of one magnitude that are other ones each time.
TEST(References, NothingAlikeGoesAsWithout) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, 16 * kMiB}) {
    run_ranks(2, with_references(bytes), [&](Communicator& communicator) {
      for (std::uint64_t call = 0; call < 40; ++call) {
        const Evolving array(Dtype::kF32, 100'000, 900 + call);
        const Moved moved = move(communicator, array, {});
        ASSERT_TRUE(moved.status.ok()) << moved.status.message();
        EXPECT_TRUE(moved.is_right);
        EXPECT_EQ(moved.report.tally.delta_packets, 0u);
        if (bytes == 0) {
          EXPECT_EQ(moved.report.reference_bytes, 0u);
        }
      }
    });
  }
}

TEST(References, LossyCodecsAndReductionsGoWithout) {
  run_ranks(2, with_references(16 * kMiB, "zfp:rate=16"), [&](Communicator& communicator) {
    Evolving array(Dtype::kF32, 200'000, 3);
    for (int step = 0; step < 2; ++step) {
      const Moved moved = move(communicator, array, {});
      ASSERT_TRUE(moved.status.ok()) << moved.status.message();
      EXPECT_EQ(moved.report.tally.delta_packets, 0u);
      EXPECT_EQ(moved.report.reference_results, 0u);
    }
  });
}

TEST(References, OtherSettingsAreRefused) {
  auto ends = transport::make_local(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto made = Communicator::create(std::move(ends[static_cast<std::size_t>(rank)]),
                                             with_references(rank == 0 ? 0 : kMiB));
      ASSERT_FALSE(made.ok());
      EXPECT_EQ(made.status().code(), StatusCode::kVersion);
      EXPECT_NE(made.status().message().find("references=none"), std::string::npos);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Each has results of its own, which end with it.
TEST(References, SeveralCommunicators) {
  constexpr int kSize = 2;
  std::vector<std::vector<std::unique_ptr<transport::Transport>>> ends;
  for (int at = 0; at < 4; ++at) ends.push_back(transport::make_local(kSize));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kSize; ++rank) {
    threads.emplace_back([&, rank] {
      const auto open = [&](std::size_t at) {
        auto made = Communicator::create(std::move(ends[at][static_cast<std::size_t>(rank)]),
                                         with_references(4 * kMiB));
        EXPECT_TRUE(made.ok());
        return std::move(*made);
      };
      Evolving one(Dtype::kBf16, 400'000, 31), two(Dtype::kBf16, 400'000, 32);
      for (std::size_t pair = 0; pair < 4; pair += 2) {
        const auto first = open(pair), second = open(pair + 1);
        for (int step = 0; step < 3; ++step) {
          const Moved of_one = move(*first, one, {});
          const Moved of_two = move(*second, two, {.operation = Operation::kBcast});
          EXPECT_TRUE(of_one.status.ok() && of_one.is_right);
          EXPECT_TRUE(of_two.status.ok() && of_two.is_right);
          EXPECT_EQ(of_one.report.reference_results, 1u);
          EXPECT_EQ(of_one.report.tally.delta_packets > 0, step > 0);
          one.step();
          two.step();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace thinwire::comm
