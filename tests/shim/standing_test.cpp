// Tests that what is known of one rank decides, whatever is not known of others.
#include "shim/mpi/collective/standing.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace thinwire::mpi {
namespace {

using enum Standing;

// Ranks as they answer at once and to who insists.
struct Ranks {
  std::map<std::size_t, std::pair<Standing, Standing>> odd;
  std::vector<std::pair<std::size_t, bool>> asked{};

  Odd find(std::size_t count, std::size_t first) {
    return find_odd(count, first, [&](std::size_t rank, bool insists) {
      asked.emplace_back(rank, insists);
      const auto found = odd.find(rank);
      if (found == odd.end()) return kSame;
      return insists ? found->second.second : found->second.first;
    });
  }
};

TEST(Standing, OfAllIsTheSame) {
  Ranks ranks;
  EXPECT_EQ(ranks.find(5, 3).rank, -1);
  const std::vector<std::pair<std::size_t, bool>> wanted = {
      {3, false}, {4, false}, {0, false}, {1, false}, {2, false}};
  EXPECT_EQ(ranks.asked, wanted);
}

TEST(Standing, OfOneThatIsKnownDecides) {
  for (const Standing known : {kAbsent, kOff, kDiffers}) {
    for (std::size_t first = 0; first < 4; ++first) {
      Ranks ranks{{{1, {kNotAsked, kNotAsked}}, {3, {known, known}}}};
      const Odd odd = ranks.find(4, first);
      EXPECT_EQ(odd.rank, 3);
      EXPECT_EQ(odd.standing, known);
      for (const auto& [rank, insists] : ranks.asked) EXPECT_FALSE(insists) << rank;
    }
  }
}

TEST(Standing, IsInsistedOn) {
  Ranks late{{{1, {kNotAsked, kSame}}, {2, {kNotAsked, kSame}}}};
  EXPECT_EQ(late.find(4, 2).rank, -1);
  Ranks absent{{{1, {kNotAsked, kSame}}, {2, {kNotAsked, kAbsent}}}};
  EXPECT_EQ(absent.find(4, 0).standing, kAbsent);
  Ranks silent{{{2, {kNotAsked, kNotAsked}}}};
  const Odd odd = silent.find(4, 0);
  EXPECT_EQ(odd.rank, 2);
  EXPECT_EQ(odd.standing, kNotAsked);
}

}  // namespace
}  // namespace thinwire::mpi
