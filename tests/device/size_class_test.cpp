#include "device/pool_parts.h"

#include <gtest/gtest.h>

namespace thinwire::device {
namespace {

TEST(SizeClass, HoldsWhatItIsFor) {
  for (std::uint64_t bytes = 0; bytes < (1u << 20); bytes += 37) {
    ASSERT_GE(class_bytes(class_of(bytes)), bytes);
  }
  for (int bit = 13; bit < 56; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const std::uint64_t bytes = (std::uint64_t{1} << bit) + static_cast<std::uint64_t>(off);
      ASSERT_LT(class_of(bytes), kSizeClasses) << bytes;
      ASSERT_GE(class_bytes(class_of(bytes)), bytes);
    }
  }
}

TEST(SizeClass, WastesAtMostAFifth) {
  for (std::uint64_t bytes = 4097; bytes < (1u << 24); bytes = bytes * 103 / 100) {
    ASSERT_LE(class_bytes(class_of(bytes)), bytes + bytes / 4) << bytes;
    ASSERT_LT(class_bytes(class_of(bytes) - 1), bytes) << bytes;
  }
}

TEST(SizeClass, ClassesFindThemselves) {
  for (int size_class = 0; size_class < kSizeClasses; ++size_class) {
    ASSERT_EQ(class_of(class_bytes(size_class)), size_class);
    if (size_class > 0) {
      ASSERT_GT(class_bytes(size_class), class_bytes(size_class - 1));
    }
  }
}

TEST(SizeClass, RefusesWhatNoMachineHas) {
  EXPECT_EQ(class_of(UINT64_MAX), kSizeClasses);
  EXPECT_EQ(class_of(std::uint64_t{1} << 60), kSizeClasses);
}

}  // namespace
}  // namespace thinwire::device
