#include "choose/large_interval.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace thinwire::choose {
namespace {

constexpr double kMiB = 1 << 20, kRate = 1e9;

// A connection that has delivered all it was given, at that rate.
Growth all_of(double bytes, double rate = kRate) { return {{bytes, bytes / rate}, bytes, 0}; }

Delivered closed(double sent, const std::vector<Growth>& connections) {
  LargeInterval interval;
  interval.open(1);
  interval.sent(sent);
  EXPECT_TRUE(interval.is_open());
  const Delivered told = interval.close(connections);
  EXPECT_FALSE(interval.is_open());
  return told;
}

TEST(LargeInterval, CountsWhatDeliveredTheMessages) {
  const Delivered told = closed(8 * kMiB, {all_of(4 * kMiB), all_of(4 * kMiB)});
  EXPECT_EQ(told.bytes, 8 * kMiB);
  EXPECT_DOUBLE_EQ(told.busy_seconds, 8 * kMiB / kRate);
}

TEST(LargeInterval, LeavesOutConnectionsThatCarryNoMessages) {
  // An upload at 4 MB/s beside a message, and one as large as the message.
  EXPECT_EQ(closed(4 * kMiB, {all_of(4 * kMiB), all_of(40e3, 4e6)}).bytes, 4 * kMiB);
  EXPECT_EQ(closed(4 * kMiB, {all_of(4 * kMiB), all_of(4 * kMiB, 4e6)}).bytes, 4 * kMiB);
  // On a slow link the upload has a good part of it.
  EXPECT_EQ(closed(4 * kMiB, {all_of(2 * kMiB, 4e6), all_of(4 * kMiB, 8e6)}).bytes, 4 * kMiB);
}

TEST(LargeInterval, TellsNothingWhereMessagesGoElsewhere) {
  EXPECT_EQ(closed(4 * kMiB, {}).bytes, 0);
  EXPECT_EQ(closed(4 * kMiB, {all_of(1 * kMiB, 4e6)}).bytes, 0);
  EXPECT_EQ(closed(4 * kMiB, {all_of(16 * kMiB, 4e6)}).bytes, 0);
}

TEST(LargeInterval, IsFinishedOnceTheMessagesAreDelivered) {
  LargeInterval interval;
  interval.open(1);
  interval.sent(4 * kMiB);
  const std::array half{Growth{{2 * kMiB, 0.002}, 4 * kMiB, 2 * kMiB}};
  EXPECT_FALSE(interval.is_finished(half, 1.002));
  EXPECT_TRUE(interval.is_finished(std::array{all_of(4 * kMiB)}, 1.004));
}

TEST(LargeInterval, SmallMessagesAloneSpoilIt) {
  // Each waits for its acknowledgement: busy time that is not the link's.
  LargeInterval interval;
  interval.open(1);
  interval.sent(4 * kMiB);
  interval.small(1.1);
  EXPECT_EQ(interval.close(std::array{Growth{{4 * kMiB, 0.1}, 4 * kMiB, 0}}).bytes, 0);
}

TEST(LargeInterval, SmallMessagesBesideLargeOnesDoNot) {
  LargeInterval interval;
  interval.open(1);
  interval.sent(4 * kMiB);
  interval.small(1.1);
  const std::array half{Growth{{2 * kMiB, 0.2}, 4 * kMiB, 2 * kMiB}};
  EXPECT_FALSE(interval.is_finished(half, 1.2));
  interval.small(1.2005);
  EXPECT_EQ(interval.close(std::array{all_of(4 * kMiB, 10e6)}).bytes, 4 * kMiB);
}

TEST(LargeInterval, AStreamThatIsAlwaysAheadCountsOnceItIsLong) {
  LargeInterval interval;
  interval.open(1);
  interval.sent(8 * kMiB);
  // The kernel still has 4 MiB of them, as of the messages before.
  const std::array filling{Growth{{2 * kMiB, 0.02}, 8 * kMiB, 6 * kMiB}};
  EXPECT_FALSE(interval.is_long(filling));
  const std::array ahead{Growth{{4 * kMiB, 0.05}, 8 * kMiB, 4 * kMiB}};
  EXPECT_FALSE(interval.is_finished(ahead, 1.05));
  EXPECT_TRUE(interval.is_long(ahead));
  EXPECT_EQ(interval.close(ahead).bytes, 4 * kMiB);
}

// Eight messages of 1 MiB are always ahead, which the MPI holds.
TEST(LargeInterval, AStreamThatTheMpiHoldsPartOfIsCountedAnew) {
  LargeInterval interval;
  interval.open(1);
  interval.sent(16 * kMiB);
  const std::array early{Growth{{7 * kMiB, 0.07}, 8 * kMiB, kMiB}};
  EXPECT_FALSE(interval.is_behind(early));
  const std::array late{Growth{{8 * kMiB, 0.08}, 8 * kMiB, 0}};
  EXPECT_FALSE(interval.is_long(late));
  EXPECT_TRUE(interval.is_behind(late));
  EXPECT_EQ(interval.close(late).bytes, 0);
  interval.open(2);
  interval.sent(8 * kMiB);
  EXPECT_FALSE(interval.is_behind(late));
  EXPECT_TRUE(interval.is_long(late));
  EXPECT_EQ(interval.close(late).bytes, 8 * kMiB);
}

TEST(LargeInterval, OfCollectivesWhatIsDeliveredIsEnough) {
  LargeInterval interval;
  interval.open(1);
  interval.sent_unknown();
  EXPECT_FALSE(interval.is_finished({}, 1));
  const std::array under_way{Growth{{kMiB, 0.001}, 2 * kMiB, kMiB}};
  EXPECT_FALSE(interval.is_finished(under_way, 1.001));
  const std::array done{all_of(3 * kMiB), all_of(300e3, 4e6)};
  EXPECT_TRUE(interval.is_finished(done, 1.003));
  EXPECT_EQ(interval.close(done).bytes, 3 * kMiB);
}

}  // namespace
}  // namespace thinwire::choose
