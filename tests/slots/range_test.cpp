// Sums of the largest and the smallest values of a type: in any layout of nodes means are those of
// the exact numbers, and nothing overflows that does not overflow under NCCL, which multiplies each
// value before it adds.
#include <cmath>
#include <limits>
#include <random>

#include "base/bytes.h"
#include "base/dtype.h"
#include "codec/accumulate.h"
#include "member.h"

namespace thinwire::slots {
namespace {

// The values of a type: the most that is finite, the least above zero, half the distance from 1 to
// the next one.
struct Limits {
  long double most, least, unit;
};
Limits limits_of(std::uint32_t dtype) {
  if (dtype == TW_F64) {
    return {std::numeric_limits<double>::max(), 0x1p-1074L, 0x1p-53L};
  }
  if (dtype == TW_F16) return {65504, 0x1p-24L, 0x1p-11L};
  if (dtype == TW_BF16) return {0x1.FEp127L, 0x1p-133L, 0x1p-8L};
  return {std::numeric_limits<float>::max(), 0x1p-149L, 0x1p-24L};
}

Bytes words_of(std::uint32_t dtype, const std::vector<double>& numbers) {
  Bytes words(numbers.size() * value_bytes(dtype));
  with_float_dtype(static_cast<Dtype>(dtype), [&](auto kDtype) {
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      const auto word = codec::word_of<kDtype>(static_cast<codec::NumberOf<kDtype>>(numbers[at]));
      store(words.data() + at * sizeof word, word);
    }
  });
  return words;
}

std::vector<double> numbers_in(std::uint32_t dtype, const Bytes& words) {
  std::vector<double> numbers;
  with_float_dtype(static_cast<Dtype>(dtype), [&](auto kDtype) {
    using Word = codec::WordOf<kDtype>;
    for (std::size_t at = 0; at < words.size(); at += sizeof(Word)) {
      numbers.push_back(codec::number_of<kDtype>(load<Word>(words.data() + at)));
    }
  });
  return numbers;
}

enum class Weight { kNone, kScale, kFactor };  // of values: 1; of a mean, the call's or each rank's

struct Reduction {
  std::uint32_t operation, dtype, way;
  std::vector<std::uint32_t> nodes;
  Weight weight = Weight::kScale;
  std::uint64_t count = 1200;

  int ranks() const { return static_cast<int>(nodes.size()); }
  bool scatters() const { return operation == TW_STREAM_REDUCE_SCATTER; }
  std::uint64_t sent() const { return count * (scatters() ? nodes.size() : 1); }
};

// One result a rank; none of ranks that get none.
std::vector<std::vector<double>> reduce(const Reduction& given, const std::vector<Bytes>& sent) {
  World world(given.ranks());
  Carrier carrier;
  std::vector<std::vector<double>> results(sent.size());
  on_ranks(given.ranks(), [&](int rank) {
    const auto own = static_cast<std::size_t>(rank);
    const Comm comm = make_comm(world, rank, true, given.nodes);
    const Codec codec("auto");
    auto options = options_of(given.operation, given.dtype, given.count, codec.handle.get());
    options.way = given.way;
    if (given.weight == Weight::kScale) options.scale = 1.0 / given.ranks();
    if (given.weight == Weight::kFactor) options.flags = TW_STREAM_PREMULTIPLIED;
    const Plan plan = make_plan(comm, options);
    const Lent lent(plan);
    const Mailbox mailbox(16 * 1024);
    carrier.serve(rank, mailbox.memory);
    Stream stream;
    Bytes receive(given.count * value_bytes(given.dtype));
    tw_stream_call call{};
    call.size = sizeof call;
    call.plan = plan.get();
    call.number = 1;
    call.send = sent[own].data();
    call.receive = receive.data();
    call.mailbox = mailbox.memory;
    call.factor = given.weight == Weight::kFactor ? 1.0 / given.ranks() : 0;
    lent.lend(call);
    call.stream = &stream;
    EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
    stream.wait();
    check(plan, lent.record);
    carrier.stop_serving(mailbox.memory);
    if (given.operation == TW_STREAM_REDUCE && rank != 0) return;
    results[own] = numbers_in(given.dtype, receive);
  });
  return results;
}

// In turn: the largest of either sign, the smallest, and any between, which differ from rank to
// rank. `most`: a share of the largest.
std::vector<double> extremes(std::uint32_t dtype, std::uint64_t count, int rank, long double most) {
  const Limits limits = limits_of(dtype);
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 17);
  const auto span = static_cast<double>(std::log2(limits.most) - std::log2(limits.least));
  std::vector<double> numbers(count);
  for (std::uint64_t at = 0; at < count; ++at) {
    const double part = 0.5 + static_cast<double>(random() >> 11) * 0x1p-54;
    long double value = limits.most * most * static_cast<long double>(at % 8 == 0 ? 1 : part);
    if (at % 4 == 1) value = limits.least * (1 + static_cast<int>(random() % 100));
    if (at % 4 == 2) value = std::ldexp(value, -static_cast<int>(part * span));
    const bool negative = at % 8 == 0 ? at % 16 == 0 : random() % 2 == 0;
    numbers[at] = static_cast<double>(negative ? -value : value);
  }
  return numbers;
}

void expect_exact_but_for_rounding(const Reduction& given) {
  SCOPED_TRACE("operation " + std::to_string(given.operation) + " dtype " +
               std::to_string(given.dtype) + " way " + std::to_string(given.way) + " ranks " +
               std::to_string(given.ranks()) + " node of the last " +
               std::to_string(given.nodes.back()) + " weight " +
               std::to_string(static_cast<int>(given.weight)));
  const auto ranks = static_cast<long double>(given.ranks());
  const bool is_mean = given.weight != Weight::kNone;
  std::vector<Bytes> sent;
  std::vector<long double> exact(given.sent()), magnitudes(given.sent());
  for (int rank = 0; rank < given.ranks(); ++rank) {
    // Factors of 1/3 are rounded up.
    const long double most = 0.98L / (is_mean ? 1 : ranks);
    sent.push_back(words_of(given.dtype, extremes(given.dtype, given.sent(), rank, most)));
    const auto stored = numbers_in(given.dtype, sent.back());
    for (std::size_t at = 0; at < stored.size(); ++at) {
      const long double part = static_cast<long double>(stored[at]) / (is_mean ? ranks : 1);
      exact[at] += part;
      magnitudes[at] += std::fabs(part);
    }
  }
  const Limits limits = limits_of(given.dtype);
  const auto results = reduce(given, sent);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const std::size_t first = given.scatters() ? given.count * rank : 0;
    for (std::size_t at = 0; at < results[rank].size(); ++at) {
      const long double off =
          std::fabs(static_cast<long double>(results[rank][at]) - exact[first + at]);
      const long double bound = (ranks + 3) * (limits.unit * magnitudes[first + at] + limits.least);
      ASSERT_LE(off, bound) << "at " << at << " of rank " << rank << ": " << results[rank][at];
    }
    if (!given.scatters() && !results[rank].empty()) {
      ASSERT_EQ(results[rank], results[0]);
    }
  }
}

constexpr std::pair<std::uint32_t, std::uint32_t> kReductions[] = {
    {TW_STREAM_ALLREDUCE, TW_STREAM_DIRECT},
    {TW_STREAM_ALLREDUCE, TW_STREAM_GATHER},
    {TW_STREAM_REDUCE, TW_STREAM_DIRECT},
    {TW_STREAM_REDUCE, TW_STREAM_GATHER},
    {TW_STREAM_REDUCE_SCATTER, TW_STREAM_PLANNED}};

TEST(Range, MeansAndSumsOfTheLargestAndTheSmallestValues) {
  using Layout = std::vector<std::uint32_t>;
  for (const Layout& nodes : {Layout{0, 0, 1, 1},
                              {0, 1, 0, 1},
                              {0, 0, 0, 1, 1, 1},
                              {0, 0, 1},
                              {0, 1, 2, 3},
                              {0, 0, 1, 1, 2, 2}}) {
    for (const auto& [operation, way] : kReductions) {
      for (const std::uint32_t dtype : {TW_F32, TW_F64, TW_F16, TW_BF16}) {
        for (const Weight weight : {Weight::kNone, Weight::kScale, Weight::kFactor}) {
          expect_exact_but_for_rounding({operation, dtype, way, nodes, weight});
        }
      }
    }
  }
}

// Twice this is no finite value of the type.
TEST(Range, TheMeanOf40000InHalvesIs40000) {
  for (const auto& [operation, way] : kReductions) {
    const Reduction given{operation, TW_F16, way, {0, 0, 1, 1}};
    const Bytes all = words_of(TW_F16, std::vector<double>(given.sent(), 40000));
    for (const std::vector<double>& result : reduce(given, {all, all, all, all})) {
      for (const double number : result) ASSERT_EQ(number, 40000);
    }
  }
}

// Plain sums on two nodes whose ranks have values of both signs.
TEST(Range, SumsOfAlternateSignsAreZero) {
  for (const auto& [operation, way] : kReductions) {
    const Reduction given{operation, TW_F16, way, {0, 0, 1, 1}, Weight::kNone};
    const Bytes above = words_of(TW_F16, std::vector<double>(given.sent(), 40000));
    const Bytes below = words_of(TW_F16, std::vector<double>(given.sent(), -40000));
    for (const std::vector<double>& result : reduce(given, {above, below, below, above})) {
      for (const double number : result) ASSERT_EQ(number, 0);
    }
  }
}

}  // namespace
}  // namespace thinwire::slots
