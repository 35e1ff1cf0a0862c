// Work on one piece: packets of values and frames, reduced into what is there.
#include "collective/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace thinwire::collective {
namespace {

constexpr std::uint64_t kCount = 5000;

codec::Spec spec_of(const char* text) { return *codec::parse_spec(text); }

std::vector<float> wave(float phase) {
  std::vector<float> values(kCount);
  for (std::uint64_t at = 0; at < kCount; ++at) {
    values[at] = std::sin(0.01f * static_cast<float>(at) + phase);
  }
  return values;
}

std::byte* bytes_of(std::vector<float>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

class Engines : public testing::TestWithParam<std::tuple<const char*, Reduction>> {};

TEST_P(Engines, ReducePacketsAsTheyReduceValues) {
  const auto [spec, reduction] = GetParam();
  const EngineSettings settings{
      .spec = spec_of(spec), .dtype = Dtype::kF32, .reduction = reduction};
  std::vector<float> spare(kCount), there = wave(0), coming = wave(1), expected = there;
  Engine engine(settings, nullptr);
  if (engine.needs_spare()) engine = Engine(settings, bytes_of(spare));
  const Shape shape = Shape::line(kCount);
  std::vector<std::byte> slot(*engine.most_bytes(shape));
  const auto packet = engine.encode(bytes_of(coming), shape, slot);
  ASSERT_TRUE(packet.ok());
  EXPECT_EQ(packet->kind == Packet::Kind::kFrame, settings.spec.kind != codec::Spec::Kind::kOff);
  ASSERT_TRUE(engine.reduce(*packet, shape, bytes_of(there)).ok());
  combine(reduction, Dtype::kF32, kCount, bytes_of(expected), bytes_of(coming));
  EXPECT_EQ(there, expected);
}

INSTANTIATE_TEST_SUITE_P(Table, Engines,
                         testing::Combine(testing::Values("off", "mpc"),
                                          testing::Values(Reduction::kSum, Reduction::kProduct,
                                                          Reduction::kMinimum,
                                                          Reduction::kMaximum)));

// Ranks whose settings differ send what this one has no memory for.
TEST(Engine, RefusesAFrameWhereNothingIsCoded) {
  const EngineSettings coding{.spec = spec_of("mpc"), .dtype = Dtype::kF32};
  const EngineSettings off{.spec = {}, .dtype = Dtype::kF32, .reduction = Reduction::kProduct};
  Engine theirs(coding, nullptr), ours(off, nullptr);
  const Shape shape = Shape::line(kCount);
  std::vector<float> coming = wave(1), there = wave(0);
  std::vector<std::byte> slot(*theirs.most_bytes(shape));
  const auto packet = theirs.encode(bytes_of(coming), shape, slot);
  ASSERT_TRUE(packet.ok());
  EXPECT_EQ(ours.reduce(*packet, shape, bytes_of(there)).code(), StatusCode::kDamaged);
  EXPECT_EQ(there, wave(0));
}

}  // namespace
}  // namespace thinwire::collective
