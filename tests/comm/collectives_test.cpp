// Every row of the table of schedules on threads, against results that are known.
#include <algorithm>
#include <mutex>

#include "brief.h"
#include "operations.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

struct Variant {
  const char* spec;
  double bound;  // of one coding; 0: lossless
};

constexpr Variant kVariants[] = {
    {"off", 0}, {"mpc", 0}, {"szp:abs=0.01", 0.01}, {"lossless:reductions=coded", 0}};
constexpr std::uint64_t kCounts[] = {0, 1, 5000, 40'000};

// Coded again at every hop, a lossy codec leaves each rank something else.
bool same_on_all(const collective::Row& row, const Variant& variant) {
  if (row.coding == plan::Coding::kPerHop && variant.bound > 0) return false;
  return row.operation == Operation::kBcast || row.operation == Operation::kAllgather ||
         row.operation == Operation::kAllreduce;
}

class Rows : public testing::TestWithParam<std::size_t> {
 protected:
  const collective::Row& row() const { return collective::algorithms()[GetParam()]; }

  void run_case(int size, std::uint64_t count, const Variant& variant, bool in_place, bool varied,
                const std::vector<std::int32_t>& nodes, bool root_decodes = false) {
    Options options;
    options.spec = spec_of(variant.spec);
    options.nodes = nodes;
    options.piece_bytes = 16 * 1024;  // several pieces and windows
    options.threads = size == 3 || size == 7 ? 2 : 0;
    std::mutex mutex;
    std::vector<std::vector<float>> results(static_cast<std::size_t>(size));
    run_ranks(size, options, [&](Communicator& communicator) {
      const int root = size - 1;
      Case own =
          Case::make(row().operation, communicator.rank(), size, count, root, in_place, varied);
      own.call.spec = options.spec;
      own.call.algorithm = row().algorithm;
      own.call.coding = row().coding;
      Report report;
      for (int repeat = 0; repeat < 2; ++repeat) {
        Case again =
            Case::make(row().operation, communicator.rank(), size, count, root, in_place, varied);
        again.call.spec = own.call.spec;
        again.call.algorithm = own.call.algorithm;
        again.call.coding = own.call.coding;
        again.call.root_decodes = root_decodes;
        if (row().operation == Operation::kBcast) again.make_uneven(communicator.rank() == root);
        const Status status = communicator.run(again.call, report);
        const std::lock_guard lock(mutex);
        ASSERT_TRUE(status.ok()) << status.message();
        compare(again, variant, size);
        const bool keeps =
            row().operation == Operation::kBcast && communicator.rank() == root && !root_decodes;
        if (keeps) {
          EXPECT_EQ(again.receive, again.expected) << "the root's values changed";
        }
        results[static_cast<std::size_t>(communicator.rank())] = again.receive;
      }
    });
    if (!same_on_all(row(), variant)) return;
    // The root is the last rank. It keeps its values, or gets those of all others.
    if (row().operation == Operation::kBcast && !root_decodes) results.pop_back();
    for (const auto& result : results) EXPECT_TRUE(std::ranges::equal(result, results[0]));
  }

  void compare(const Case& own, const Variant& variant, int size) {
    ASSERT_EQ(own.receive.size() >= own.expected.size(), true);
    const double allowed = variant.bound * static_cast<double>(row().codings(size)) * 1.0001;
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < own.expected.size(); ++at) {
      wrong += !(std::abs(own.receive[at] - own.expected[at]) <= allowed);
    }
    EXPECT_EQ(wrong, 0u) << variant.spec << ", " << size << " ranks";
  }
};

// In brief every two of a size, a count and a variant meet once.
TEST_P(Rows, GiveTheResult) {
  std::size_t turn = 0;
  for (const int size : {1, 2, 3, 4, 7, 8}) {
    for (std::size_t count = 0; count < std::size(kCounts); ++count) {
      for (std::size_t at = 0; at < std::size(kVariants); ++at) {
        if (is_brief() && at != (turn + count) % std::size(kVariants)) continue;
        run_case(size, kCounts[count], kVariants[at], false, false, {});
      }
    }
    ++turn;
  }
}

TEST_P(Rows, InPlace) {
  for (const int size : {1, 3, 4}) run_case(size, 5000, kVariants[1], true, false, {});
}

TEST_P(Rows, BlocksOfDifferentSizes) {
  for (const int size : {2, 3, 8}) run_case(size, 3000, kVariants[1], false, true, {});
}

TEST_P(Rows, OnNodesOfSeveralRanks) {
  run_case(4, 20'000, kVariants[1], false, false, {0, 0, 1, 1});
  run_case(7, 20'000, kVariants[2], false, false, {5, 1, 5, 1, 1, 2, 5});
  run_case(4, 20'000, kVariants[1], true, false, {3, 3, 3, 3});
}

class BroadcastRows : public Rows {};

TEST_P(BroadcastRows, DecodeAtTheRootWhereTheyAreAsked) {
  for (const Variant& variant : kVariants) {
    run_case(4, 40'000, variant, false, false, {}, true);
    run_case(7, 40'000, variant, false, false, {5, 1, 5, 1, 1, 2, 5}, true);
  }
}

TEST_P(Rows, TellTheirLargestError) {
  Options options;
  options.spec = spec_of("szp:abs=0.01");
  for (const bool in_place : {false, true}) {
    run_ranks(4, options, [&](Communicator& communicator) {
      Case own = Case::make(row().operation, communicator.rank(), 4, 20'000, 0, in_place, false);
      for (float& value : own.send) value *= 0.9999f;
      own.call.spec = options.spec;
      own.call.algorithm = row().algorithm;
      own.call.coding = row().coding;
      own.call.verify = true;
      Report report;
      const Status status = communicator.run(own.call, report);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_LE(report.max_error, 0.01 * static_cast<double>(row().codings(4)) * 1.0001);
      const bool sees_coded_data = communicator.rank() != 0 && !own.receive.empty();
      if (sees_coded_data && !own.send.empty()) {
        EXPECT_GT(report.max_error, 0);
      }
    });
  }
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  const collective::Row& row = collective::algorithms()[info.param];
  std::string name = std::string(collective::operation_name(row.operation)) + "_" +
                     collective::algorithm_name(row.algorithm) + "_" +
                     collective::coding_name(row.coding);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<std::size_t> broadcasts() {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < collective::algorithms().size(); ++at) {
    if (collective::algorithms()[at].operation == Operation::kBcast) found.push_back(at);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Table, Rows,
                         testing::Range(std::size_t{0}, collective::algorithms().size()), name_of);
INSTANTIATE_TEST_SUITE_P(Table, BroadcastRows, testing::ValuesIn(broadcasts()), name_of);

}  // namespace
}  // namespace thinwire::comm
