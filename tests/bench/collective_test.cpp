// Results that the benchmark of collectives takes for right, and for wrong.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "collective/data.h"

namespace thinwire::bench {
namespace {

constexpr tw_operation kMovements[] = {TW_BCAST, TW_ALLGATHER, TW_GATHER, TW_SCATTER, TW_ALLTOALL};
constexpr tw_operation kReductions[] = {TW_REDUCE, TW_ALLREDUCE, TW_REDUCE_SCATTER};
constexpr int kRanks = 3;
constexpr std::int64_t kCount = 10;

// A file of 7 values, which is gone with this object.
class File {
 public:
  explicit File(std::vector<float> values = {1, -2, 3.5, 0, 5, 6, 7.25}) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string("thinwire-") + test->name() + "-";
    path_ = std::filesystem::temp_directory_path() / (name + std::to_string(getpid()));
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  ~File() { std::filesystem::remove(path_); }

  std::string path() const { return path_.string(); }
  Data data() const { return {path(), TW_F32}; }

 private:
  std::filesystem::path path_;
};

Group group_of(int rank) { return {rank, kRanks, 1}; }

// Returns what MPI would leave in a rank's receive buffer, made from all ranks' send buffers by its
// rules.
std::vector<float> by_rule(const Data& data, tw_operation operation, int rank) {
  const auto size = static_cast<std::size_t>(received_count(operation, group_of(rank), kCount));
  std::vector<float> result(size, 0);
  for (int from = 0; from < kRanks; ++from) {
    const std::vector<char> bytes = data.sent(operation, group_of(from), kCount);
    std::vector<float> sent(bytes.size() / sizeof(float));
    std::memcpy(sent.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t block = i / kCount, place = i % kCount;
      const auto own = static_cast<std::size_t>(rank) * kCount;
      const bool is_block = static_cast<int>(block) == from;
      if (operation == TW_BCAST && from == 1) result[i] = sent[i];
      if ((operation == TW_ALLGATHER || operation == TW_GATHER) && is_block)
        result[i] = sent[place];
      if (operation == TW_SCATTER && from == 1) result[i] = sent[own + i];
      if (operation == TW_ALLTOALL && is_block) result[i] = sent[own + place];
      if (operation == TW_REDUCE_SCATTER) result[i] += sent[own + i];
      if (operation == TW_REDUCE || operation == TW_ALLREDUCE) result[i] += sent[i];
    }
  }
  return result;
}

Judgement judge(const Data& data, tw_operation operation, int rank,
                const std::vector<float>& values, const Tolerance& tolerance) {
  const Check check(data, operation, TW_F32, group_of(rank), kCount);
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return check.judge({bytes, values.size() * sizeof(float)}, tolerance);
}

TEST(BenchCollective, ExpectsWhatTheRulesOfMpiGive) {
  const File file;
  const Data data = file.data();
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const tw_operation operation : kMovements) {
      const auto values = by_rule(data, operation, rank);
      EXPECT_EQ(judge(data, operation, rank, values, {}).wrong, 0) << operation;
    }
    for (const tw_operation operation : kReductions) {
      const auto values = by_rule(data, operation, rank);
      EXPECT_EQ(judge(data, operation, rank, values, {}).wrong, 0) << operation;
    }
  }
}

TEST(BenchCollective, OneWrongValueIsFound) {
  const File file;
  const Data data = file.data();
  for (const tw_operation operation : {TW_BCAST, TW_ALLGATHER, TW_ALLREDUCE}) {
    auto values = by_rule(data, operation, 0);
    const std::uint64_t hash = judge(data, operation, 0, values, {}).hash;
    values[4] += 0.01f;
    const Judgement found = judge(data, operation, 0, values, {});
    EXPECT_EQ(found.wrong, 1) << operation;
    EXPECT_NEAR(found.max_error, 0.01, 1e-6);
    EXPECT_NE(found.hash, hash);
    EXPECT_EQ(judge(data, operation, 0, values, {false, 0.02}).wrong, 0);
    EXPECT_EQ(judge(data, operation, 0, values, {false, 0.005}).wrong, 1);
    values[4] = std::nanf("");
    EXPECT_EQ(judge(data, operation, 0, values, {false, 0}).wrong, 1);
  }
}

TEST(BenchCollective, TheLastBitOfWhatWasMovedCounts) {
  const File file;
  auto values = by_rule(file.data(), TW_BCAST, 2);
  values[9] = std::nextafter(values[9], 100.0f);
  EXPECT_EQ(judge(file.data(), TW_BCAST, 2, values, {}).wrong, 1);
}

TEST(BenchCollective, NotANumberMustStayOne) {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const File file({1, nan, 2, infinity, 3, 4, 5});
  const Data data = file.data();
  for (const tw_operation operation : {TW_BCAST, TW_ALLREDUCE}) {
    auto values = by_rule(data, operation, 0);
    EXPECT_EQ(judge(data, operation, 0, values, {}).wrong, 0);
    EXPECT_EQ(judge(data, operation, 0, values, {false, 1}).wrong, 0);
    values[1] = values[3] = 0;
    EXPECT_EQ(judge(data, operation, 0, values, {false, 1}).wrong, 2);
  }
}

TEST(BenchCollective, SixteenBitValuesAreNumbers) {
  // 1, 65504, -2^-24 and an infinity as f16; as bf16 other numbers.
  const std::uint16_t bits[] = {0x3c00, 0x7bff, 0x8001, 0x7c00};
  float halves[2];
  std::memcpy(halves, bits, sizeof bits);
  const File file({halves[0], halves[1]});
  const Data data(file.path(), TW_F16);
  const Check check(data, TW_BCAST, TW_F16, group_of(0), 4);
  std::uint16_t found[] = {0x3c01, 0x7bff, 0x0000, 0x7c00};
  const auto judged = check.judge({reinterpret_cast<const char*>(found), sizeof found}, {false, 0});
  EXPECT_EQ(judged.wrong, 0);
  EXPECT_EQ(judged.max_error, std::ldexp(1, -10));
  found[3] = 0x7bff;
  const auto finite = check.judge({reinterpret_cast<const char*>(found), sizeof found}, {false, 0});
  EXPECT_EQ(finite.wrong, 1);
}

// All numbers of a 16-bit type come back from what they are written as.
TEST(BenchCollective, SixteenBitNumbersGoThereAndBack) {
  for (const tw_dtype dtype : {TW_F16, TW_BF16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto before = static_cast<std::uint16_t>(bits);
      char at[2], back[2];
      std::memcpy(at, &before, sizeof before);
      const double number = number_at(dtype, at);
      put_number(dtype, number, back);
      if (std::isnan(number)) {
        EXPECT_TRUE(std::isnan(number_at(dtype, back))) << bits;
      } else {
        EXPECT_EQ(std::memcmp(at, back, sizeof at), 0) << bits;
      }
    }
  }
  char at[2];
  put_number(TW_F16, 2049, at);  // a tie between 2048 and 2050
  EXPECT_EQ(number_at(TW_F16, at), 2048);
  put_number(TW_BF16, 257, at);
  EXPECT_EQ(number_at(TW_BF16, at), 256);
  put_number(TW_F16, 1e6, at);
  EXPECT_TRUE(std::isinf(number_at(TW_F16, at)));
}

TEST(BenchCollective, SixteenBitSumsAreOfTheNumbersThatWereSent) {
  for (const tw_dtype dtype : {TW_F16, TW_BF16}) {
    std::vector<float> words(4);  // eight values of 16 bits
    for (int at = 0; at < 8; ++at) {
      put_number(dtype, 0.5 * at - 1, reinterpret_cast<char*>(words.data()) + 2 * at);
    }
    const File file(words);
    const Data data(file.path(), dtype);
    std::vector<char> sum(2 * kCount);
    for (std::size_t at = 0; at < kCount; ++at) {
      double all = 0;
      for (int rank = 0; rank < kRanks; ++rank) {
        const auto sent = data.sent(TW_ALLREDUCE, group_of(rank), kCount);
        ASSERT_EQ(sent.size(), sum.size());
        all += number_at(dtype, sent.data() + 2 * at);
      }
      put_number(dtype, all, sum.data() + 2 * at);
    }
    const Check check(data, TW_ALLREDUCE, dtype, group_of(0), kCount);
    EXPECT_EQ(check.judge(sum, {}).wrong, 0) << dtype;
    put_number(dtype, number_at(dtype, sum.data()) * 1.1 + 0.1, sum.data());
    EXPECT_EQ(check.judge(sum, {}).wrong, 1) << dtype;
  }
}

}  // namespace
}  // namespace thinwire::bench
