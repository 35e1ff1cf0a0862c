#include "base/float_mode.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

#include "other_float_mode.h"

namespace thinwire {
namespace {

double third() {
  volatile double one = 1, three = 3;
  return one / three;
}

TEST(FloatMode, IsTheDefaultInside) {
  const double nearest = third();
  const OtherFloatMode other;
  EXPECT_NE(third(), nearest);
  const DefaultFloatMode mode;
  EXPECT_EQ(third(), nearest);
  volatile float least = std::numeric_limits<float>::min();
  EXPECT_GT(least / 2, 0.0F);
  volatile double zero = 0;
  EXPECT_NE(zero / zero, zero / zero);  // no trap
}

TEST(FloatMode, LeavesTheProgramsModeAndFlags) {
  const OtherFloatMode other;
  const double upward = third();
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const DefaultFloatMode mode;
    volatile double zero = 0, got = 1 / zero;
    static_cast<void>(got);
  }
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_INVALID), 0);
  EXPECT_EQ(third(), upward);
}

}  // namespace
}  // namespace thinwire
