// Channels to one peer: what one dtype or codec declines says nothing of another.
#include "shim/mpi/choose/peers.h"

#include <gtest/gtest.h>

namespace thinwire::mpi {
namespace {

TEST(Channels, DtypesAndCodecsHaveTheirOwn) {
  Channels channels;
  for (int message = 0; message < 2; ++message) {
    ASSERT_NE(channels.of(TW_F64, 0).next(), choose::Effort::kSkip);
    channels.of(TW_F64, 0).declined();
  }
  EXPECT_EQ(channels.of(TW_F32, 0).declines(), 0U);
  EXPECT_EQ(channels.of(TW_F64, 1).declines(), 0U);
  EXPECT_EQ(channels.of(TW_F64, 0).declines(), 2U);
  channels.doubt();
  EXPECT_EQ(channels.of(TW_BF16, 0).next(), choose::Effort::kSampleFirst);
}

}  // namespace
}  // namespace thinwire::mpi
