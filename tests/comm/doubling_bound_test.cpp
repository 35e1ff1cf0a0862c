// Recursive doubling under a bound of the result: on hard data, for powers of two and other numbers
// of ranks, every rank ends with the same bits within it.
#include <cmath>
#include <cstring>
#include <limits>

#include "brief.h"
#include "collective/adversaries.h"
#include "collective/exact_sum.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

using collective::Kind;
using plan::Algorithm;

constexpr double kBound = 0.5;
constexpr int kSizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 16};

struct Outcome {
  collective::Ranks<float> results;
  std::vector<Report> reports;
};

Outcome allreduce(const collective::Ranks<float>& ranks, Algorithm algorithm,
                  const std::string& spec) {
  const std::size_t size = ranks.size();
  Outcome outcome{collective::Ranks<float>(size), std::vector<Report>(size)};
  Options options;
  options.piece_bytes = 16 * 1024;
  run_ranks(static_cast<int>(size), options, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::vector<float>& result = outcome.results[rank];
    result.assign(ranks[rank].size(), -1);
    const Call call{.operation = plan::Operation::kAllreduce,
                    .dtype = Dtype::kF32,
                    .algorithm = algorithm,
                    .send = reinterpret_cast<const std::byte*>(ranks[rank].data()),
                    .receive = reinterpret_cast<std::byte*>(result.data()),
                    .count = result.size(),
                    .spec = spec_of(spec)};
    const Status status = communicator.run(call, outcome.reports[rank]);
    EXPECT_TRUE(status.ok()) << status.message();
  });
  return outcome;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::size_t count_outside(const collective::Ranks<float>& ranks, const std::vector<float>& result,
                          double bound) {
  std::size_t outside = 0;
  for (std::size_t at = 0; at < result.size(); ++at) {
    collective::ExactSum sum;
    double special = 0;
    for (const auto& array : ranks) {
      const double value = array[at];
      std::isfinite(value) ? sum.add(value) : void(special += value);
    }
    const double found = result[at];
    if (std::isnan(special)) {
      outside += !std::isnan(found);
    } else if (std::isinf(special)) {
      outside += found != special;
    } else {
      outside += !std::isfinite(found) || !collective::is_within(sum, found, bound);
    }
  }
  return outside;
}

void expect_bound(const collective::Ranks<float>& ranks, const std::string& spec) {
  const Outcome outcome = allreduce(ranks, Algorithm::kRecursiveDoubling, spec);
  const Report& report = outcome.reports[0];
  EXPECT_EQ(report.choice.reason, plan::Reason::kCompress);
  EXPECT_EQ(report.choice.algorithm, Algorithm::kRecursiveDoubling);
  EXPECT_GT(report.bound, 0);
  EXPECT_EQ(count_outside(ranks, outcome.results[0], report.bound), 0u);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(outcome.reports[rank].bound, report.bound);
    EXPECT_TRUE(same_bits(outcome.results[rank], outcome.results[0])) << "rank " << rank;
  }
}

TEST(DoublingUnderABound, KeepsItOnHardData) {
  for (const int size : kSizes) {
    if (is_brief() && size > 3 && size != 7 && size != 8) continue;
    for (const Kind kind : collective::kKinds) {
      // As large as sums may be: no lattice is that coarse.
      if (kind == Kind::kExtreme) continue;
      const auto arrays =
          hard_arrays<float>(kind, 2 * kBound / size, static_cast<std::size_t>(size), 9000,
                             static_cast<unsigned>(size));
      SCOPED_TRACE(std::to_string(size) + " ranks, kind " + std::to_string(static_cast<int>(kind)));
      expect_bound(arrays, "szp:allreduce-abs=0.5");
    }
    const auto huge =
        hard_arrays<float>(Kind::kExtreme, 1, static_cast<std::size_t>(size), 9000, 7);
    expect_bound(huge, "szp:allreduce-abs=1e33");
  }
}

TEST(DoublingUnderABound, KeepsSharesOfTheRanges) {
  for (const int size : kSizes) {
    const auto mixed = hard_arrays<float>(Kind::kMixed, 1, static_cast<std::size_t>(size), 9000, 3);
    expect_bound(mixed, "szp:allreduce-rel=1e-3");
  }
}

TEST(DoublingUnderABound, TakesConstantArraysAndAnyCount) {
  for (const int size : kSizes) {
    for (const std::size_t count : {1, 15, 4096, 4097, 30'000}) {
      const collective::Ranks<float> ranks(static_cast<std::size_t>(size),
                                           std::vector<float>(count, 3.25F));
      expect_bound(ranks, "szp:allreduce-abs=0.5");
    }
    const collective::Ranks<float> none(static_cast<std::size_t>(size));
    const Outcome empty = allreduce(none, Algorithm::kRecursiveDoubling, "szp:allreduce-abs=0.5");
    EXPECT_EQ(empty.reports[0].choice.reason, plan::Reason::kBelowThreshold);
  }
}

// Each contribution becomes integers of one lattice, once; their sum is the same by any way.
TEST(DoublingUnderABound, MakesWhatDirectMakes) {
  for (const int size : kSizes) {
    // Sums below 2^13 steps, a power of two: no addition rounds.
    const float step = 1.0F / 16;
    collective::Ranks<float> ranks(static_cast<std::size_t>(size), std::vector<float>(9000));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (std::size_t at = 0; at < 9000; ++at) {
        ranks[rank][at] = 200 * step * std::sin(0.01F * static_cast<float>(at * (rank + 1)));
      }
    }
    const std::string spec = "szp:allreduce-abs=" + std::to_string(step * 1.01 / 2 * size);
    const Outcome doubling = allreduce(ranks, Algorithm::kRecursiveDoubling, spec);
    const Outcome direct = allreduce(ranks, Algorithm::kDirect, spec);
    std::size_t different = 0;
    for (std::size_t at = 0; at < 9000; ++at) {
      different += doubling.results[0][at] != direct.results[0][at];
    }
    EXPECT_EQ(different, 0u) << size << " ranks";
  }
}

}  // namespace
}  // namespace thinwire::comm
