// Results of earlier calls that are kept.
#include "comm/history.h"

#include <gtest/gtest.h>

#include <cstring>

#include "message/delta.h"

namespace thinwire::comm {
namespace {

constexpr ResultClass kClass{plan::Operation::kAllgather, Dtype::kF32, 4096, 5};
constexpr std::uint64_t kEach = 4096 + History::kBesideBytes;

Sketch sketch_of_value(float value, float step) {
  float values[1024];
  for (int at = 0; at < 1024; ++at) values[at] = value + static_cast<float>(at % 7) * step;
  return sketch_of(Dtype::kF32, std::as_bytes(std::span(values)));
}

void give(History::Entry* entry, const Sketch& sketch) {
  ASSERT_NE(entry, nullptr);
  std::memcpy(entry->sketch(), sketch.data(), sketch.size());
}

TEST(History, FindsWhatIsMostAlike) {
  History history(10 * kEach);
  EXPECT_EQ(history.most_alike(kClass, sketch_of_value(1, 0)), nullptr);
  give(history.keep(kClass, 0), sketch_of_value(1.001f, 1e-3f));
  give(history.keep(kClass, 0), sketch_of_value(1.0001f, 1e-3f));
  give(history.keep(kClass, 0), sketch_of_value(77, 3));
  EXPECT_EQ(history.most_alike(kClass, sketch_of_value(1, 1e-3f))->number, 2u);
  EXPECT_EQ(history.most_alike(kClass, sketch_of_value(77.01f, 3))->number, 3u);
  EXPECT_EQ(history.most_alike(kClass, sketch_of_value(-5000, 100)), nullptr);
  ResultClass other = kClass;
  other.counts = 6;
  EXPECT_EQ(history.most_alike(other, sketch_of_value(1, 1e-3f)), nullptr);
}

TEST(History, AResultTakesThePlaceOfItsReference) {
  History history(10 * kEach);
  const std::byte* const first = history.keep(kClass, 0)->values();
  const History::Entry* const entry = history.keep(kClass, 1);
  EXPECT_EQ(entry->number, 2u);
  EXPECT_EQ(entry->values(), first);
  EXPECT_EQ(history.entries(), 1u);
  EXPECT_EQ(history.find(1), nullptr);
  EXPECT_EQ(history.find(2), entry);
}

// As another rank that is wrong, or means harm, could name it.
TEST(History, AReferenceOfAnotherClassKeepsItsPlace) {
  History history(10 * kEach);
  const History::Entry* const small = history.keep(kClass, 0);
  const std::byte* const values = small->values();
  ResultClass large = kClass;
  large.bytes = 2 * kClass.bytes;
  EXPECT_NE(history.keep(large, 1)->values(), values);
  EXPECT_EQ(history.find(1)->values(), values);
  EXPECT_EQ(history.bytes(), 2 * kEach + kClass.bytes);
}

TEST(History, StaysWithinItsMemoryAndGivesWayToOneInSixteen) {
  History history(3 * kEach + 100);
  ResultClass large = kClass;
  large.bytes = 4 * kEach;
  EXPECT_FALSE(history.fits(large));
  for (int call = 0; call < 3; ++call) EXPECT_NE(history.keep(kClass, 0), nullptr);
  EXPECT_EQ(history.bytes(), 3 * kEach);
  history.keep(kClass, 1);  // used last: number 4
  int kept = 0;
  for (int call = 0; call < 32; ++call) {
    kept += history.keep(kClass, 0) != nullptr;
    EXPECT_LE(history.bytes(), history.limit());
    if (call == 0) {
      EXPECT_EQ(history.find(2), nullptr) << "used least lately";
    }
  }
  EXPECT_EQ(kept, 2);
  EXPECT_NE(history.find(4), nullptr);
  history.clear();
  EXPECT_EQ(history.bytes(), 0u);
  // Numbers go on.
  EXPECT_EQ(history.keep(kClass, 0)->number, 37u);
}

TEST(History, OfManySmallOnesTheLastThousand) {
  ResultClass small = kClass;
  small.bytes = 16;
  History history(1 << 30);
  for (int call = 0; call < 1200; ++call) history.keep(small, 0);
  EXPECT_EQ(history.entries(), History::kMostEntries);
}

// A sketch looks everywhere, at small blocks too.
TEST(History, SketchesOfAnySize) {
  for (const std::size_t count : {0, 1, 5, 127, 128, 129, 1000}) {
    std::vector<std::uint16_t> values(count);
    for (std::size_t at = 0; at < count; ++at) values[at] = static_cast<std::uint16_t>(at + 1);
    const Sketch sketch = sketch_of(Dtype::kBf16, std::as_bytes(std::span(values)));
    std::uint16_t words[kSketchElements];
    std::memcpy(words, sketch.data(), sizeof words);
    for (std::size_t at = 1; at < kSketchElements; ++at) EXPECT_GE(words[at], words[at - 1]);
    if (count > 0) {
      EXPECT_EQ(words[0], 1);
    }
    EXPECT_LE(words[kSketchElements - 1], count);
    if (count >= 128) {
      EXPECT_GT(words[kSketchElements - 1], count - count / 64);
    }
  }
}

}  // namespace
}  // namespace thinwire::comm
