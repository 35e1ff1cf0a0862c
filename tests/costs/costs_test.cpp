#include "costs/costs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace thinwire::costs {
namespace {

constexpr const char* kMachine = "a processor, 4 processors, no GPU";
constexpr const char* kVersion = "1.2.3";
const std::string kHead =
    "thinwire-costs 1\nmachine: " + std::string(kMachine) + "\nversion: " + kVersion + "\n";
const std::string kRow = "mpc:stride=1 f32 1048576 host 1.5e9 2e9 1.5\n";

Result<Table> read(const std::string& text) {
  return Table::read(text, "table", kMachine, kVersion);
}

std::string error_of(const std::string& text) {
  const auto table = read(text);
  return table.ok() ? "" : table.status().message();
}

TEST(Costs, RowsAreFoundByTheNearestSize) {
  const auto table = read(kHead + kRow + "mpc:stride=1 f32 65536 host 3e9 4e9 1.25\n" +
                          "mpc:stride=1 f64 65536 host 5e9 6e9 2\nlorenzo:tuple=1 f32 65536 gpu "
                          "7e9 8e9 3\nend 4\n");
  ASSERT_TRUE(table.ok()) << table.status().message();
  EXPECT_EQ(table->rows().size(), 4u);
  const auto rate = [&](const char* codec, Dtype dtype, std::uint64_t bytes, Place place) {
    const auto found = table->find(codec, dtype, bytes, place);
    return found ? found->encode_bytes_per_second : 0;
  };
  EXPECT_EQ(rate("mpc:stride=1", Dtype::kF32, 1 << 30, Place::kHost), 1.5e9);
  EXPECT_EQ(rate("mpc:stride=1", Dtype::kF32, 1 << 19, Place::kHost), 1.5e9);
  EXPECT_EQ(rate("mpc:stride=1", Dtype::kF32, 1 << 17, Place::kHost), 3e9);
  EXPECT_EQ(rate("mpc:stride=1", Dtype::kF32, 0, Place::kHost), 3e9);
  EXPECT_EQ(rate("mpc:stride=1", Dtype::kF64, 1 << 20, Place::kHost), 5e9);
  EXPECT_EQ(rate("mpc:stride=1", Dtype::kF32, 1 << 20, Place::kGpu), 0);
  EXPECT_EQ(rate("mpc:stride=2", Dtype::kF32, 1 << 20, Place::kHost), 0);
  EXPECT_EQ(table->find("lorenzo:tuple=1", Dtype::kF32, 1, Place::kGpu)->ratio, 3);
}

TEST(Costs, ATableOfAnotherMachineOrVersionIsRefused) {
  const std::string rest = kRow + "end 1\n";
  EXPECT_EQ(error_of(kHead + rest), "");
  const std::string other = "thinwire-costs 1\nmachine: another\nversion: 1.2.3\n" + rest;
  EXPECT_EQ(error_of(other),
            "table:2: the table is of another machine, 'another', and this is 'a processor, 4 "
            "processors, no GPU'; `thinwire tune` measures again");
  std::string older = kHead + rest;
  older.replace(older.find("1.2.3"), 5, "1.2.2");
  EXPECT_EQ(error_of(older),
            "table:3: the table is of Thinwire '1.2.2', and this is 1.2.3; `thinwire tune` "
            "measures again");
  EXPECT_TRUE(error_of("thinwire-costs 2\n").starts_with("table:1: this is no table"));
}

TEST(Costs, ATableCutShortAnywhereIsRefused) {
  const std::string whole = kHead + kRow + "end 1\n";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string why = error_of(whole.substr(0, length));
    EXPECT_TRUE(why.starts_with("table:")) << length << ": " << why;
  }
}

TEST(Costs, WhatIsWrongIsNamedWithItsLine) {
  const struct {
    std::string rows;
    const char* why;
  } wrong[] = {
      {"end 1\n", "table:4: the last line does not count"},
      {kRow + "end 1\nend 1\n", "table:6: nothing may follow"},
      {kRow + kRow + "end 2\n", "table:5: the same was measured before"},
      {"mpc f32 1048576 host 1e9 1e9 1.5\nend 1\n", "'mpc' is no codec in its normal form"},
      {"zpf:rate=8 f32 1048576 host 1e9 1e9 1.5\nend 1\n", "is no codec in its normal form"},
      {"mpc:stride=1 f31 1048576 host 1e9 1e9 1.5\nend 1\n", "'f31' is no type"},
      {"mpc:stride=1 f32 0 host 1e9 1e9 1.5\nend 1\n", "'0' is no number of bytes"},
      {"mpc:stride=1 f32 -1 host 1e9 1e9 1.5\nend 1\n", "'-1' is no number of bytes"},
      {"mpc:stride=1 f32 1e6 host 1e9 1e9 1.5\nend 1\n", "'1e6' is no number of bytes"},
      {"mpc:stride=1 f32 4096 moon 1e9 1e9 1.5\nend 1\n", "'moon' is neither host nor gpu"},
      {"mpc:stride=1 f32 4096 host nan 1e9 1.5\nend 1\n", "'nan' is no rate"},
      {"mpc:stride=1 f32 4096 host 0 1e9 1.5\nend 1\n", "'0' is no rate"},
      {"mpc:stride=1 f32 4096 host 1e9 inf 1.5\nend 1\n", "'inf' is no rate"},
      {"mpc:stride=1 f32 4096 host 1e9 1e9 1e300\nend 1\n", "'1e300' is no rate"},
      {"mpc:stride=1 f32 4096 host 1e9 1e9\nend 1\n", "a line has a codec"},
      {"mpc:stride=1 f32 4096 host 1e9 1e9 1.5 2\nend 1\n", "a line has a codec"},
      {"mpc:stride=1  f32 4096 host 1e9 1e9 1.5\nend 1\n", "a line has a codec"},
      {"\nend 0\n", "a line has a codec"},
      {std::string(4000, 'x') + "\nend 1\n", "a line has a codec"},
      {std::string("mpc:stride=1\0f32\n", 17) + "end 1\n", "a line has a codec"},
  };
  for (const auto& each : wrong) {
    const std::string why = error_of(kHead + each.rows);
    EXPECT_NE(why.find(each.why), std::string::npos) << each.rows << " gave: " << why;
    EXPECT_TRUE(why.starts_with("table:")) << why;
  }
}

TEST(Costs, MoreRowsThanATableHasAreRefused) {
  std::string rows;
  for (std::size_t at = 0; at <= kMostRows; ++at) {
    rows += "mpc:stride=1 f32 " + std::to_string(at + 1) + " host 1e9 1e9 1.5\n";
  }
  EXPECT_NE(error_of(kHead + rows + "end 4097\n").find("more rows than"), std::string::npos);
}

TEST(Costs, TheMachinesTableLiesInTheUsersCacheFolder) {
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/somewhere/cache", 1), 0);
  const std::string path = path_of_machine();
  EXPECT_TRUE(path.starts_with("/somewhere/cache/thinwire/costs-")) << path;
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "relative", 1), 0);  // counts as not set
  ASSERT_EQ(setenv("HOME", "/home/me", 1), 0);
  EXPECT_TRUE(path_of_machine().starts_with("/home/me/.cache/thinwire/costs-"));
  ASSERT_EQ(unsetenv("HOME"), 0);
  EXPECT_EQ(path_of_machine(), "");
  EXPECT_FALSE(machine_text().empty());
  EXPECT_EQ(machine_text().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace thinwire::costs
