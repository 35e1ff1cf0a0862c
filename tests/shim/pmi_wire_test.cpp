// The text of PMI-1: what launchers say, and what nobody should.
#include "shim/mpi/job/pmi_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace thinwire::mpi::pmi {
namespace {

TEST(PmiField, IsTheValueOfAWholeWord) {
  const char* line = "cmd=get_result rc=0 msg=success value=(vector,(0,1,2)) values=7";
  EXPECT_EQ(field(line, "cmd"), "get_result");
  EXPECT_EQ(field(line, "rc"), "0");
  EXPECT_EQ(field(line, "value"), "(vector,(0,1,2))");
  EXPECT_EQ(field(line, "values"), "7");
  EXPECT_FALSE(field(line, "val"));
  EXPECT_FALSE(field(line, "c"));
  EXPECT_FALSE(field("", "cmd"));
  EXPECT_FALSE(field("cmd", "cmd"));
  EXPECT_EQ(field("cmd=", "cmd"), "");
  EXPECT_EQ(field("  cmd=a  key=b ", "key"), "b");
}

TEST(PmiAnswer, IsTheRightOneAndNoRefusal) {
  EXPECT_TRUE(answers("cmd=put_result rc=0", "put_result"));
  EXPECT_TRUE(answers("cmd=my_kvsname kvsname=kvs_1_0", "my_kvsname"));
  EXPECT_FALSE(answers("cmd=put_result rc=-1 msg=no", "put_result"));
  EXPECT_FALSE(answers("cmd=get_result rc=0", "put_result"));
  EXPECT_FALSE(answers("", "put_result"));
  EXPECT_FALSE(answers("000038cmd=fullinit-response;rc=0;", "response_to_init"));  // PMI-2
}

TEST(PmiWord, HoldsNoLettersOfTheProtocol) {
  EXPECT_TRUE(is_word("0_65536_1_0_1_0,1,2"));
  for (const char* text : {"", "a b", "a=b", "a\nb", "a\tb", "\x7f", "\xc3\xa4"}) {
    EXPECT_FALSE(is_word(text)) << text;
  }
  EXPECT_EQ(from_word(as_word("0 65536 1 0 1 0,1,2")), "0 65536 1 0 1 0,1,2");
}

std::vector<int> beside(const char* mapping, int rank, int size) {
  const auto blocks = parse_mapping(mapping);
  return blocks ? ranks_beside(*blocks, rank, size) : std::vector<int>{-1};
}

using Ranks = std::vector<int>;

TEST(PmiMapping, PutsRanksOnNodes) {
  EXPECT_EQ(beside("(vector,(0,1,2))", 1, 2), (Ranks{0, 1}));
  EXPECT_EQ(beside("(vector,(0,2,2))", 1, 4), (Ranks{0, 1}));
  EXPECT_EQ(beside("(vector,(0,2,2))", 2, 4), (Ranks{2, 3}));
  EXPECT_EQ(beside("(vector,(0,1,1),(1,2,2))", 0, 5), (Ranks{0}));
  EXPECT_EQ(beside("(vector,(0,1,1),(1,2,2))", 4, 5), (Ranks{3, 4}));
}

// MPICH 4.0's launcher says (0,1,1) of any number of ranks on one node.
TEST(PmiMapping, StartsAgainWhereRanksAreLeft) {
  EXPECT_EQ(beside("(vector,(0,1,1))", 2, 3), (Ranks{0, 1, 2}));
  EXPECT_EQ(beside("(vector,(0,2,1))", 1, 5), (Ranks{1, 3}));
  EXPECT_EQ(beside("(vector,(0,2,1))", 0, 5), (Ranks{0, 2, 4}));
}

// As MPICH's launchers from 4.1 on write it.
TEST(PmiMapping, KnowsRepeatsAndSingleRanks) {
  EXPECT_EQ(beside("(vector,[(0,2,1)]x2)", 1, 4), (Ranks{1, 3}));
  EXPECT_EQ(beside("(vector,(0,1,2),1)", 2, 3), (Ranks{2}));
  EXPECT_EQ(beside("(vector,[(0,2,1)]x2,0)", 0, 5), (Ranks{0, 2, 4}));
  EXPECT_EQ(beside("(vector,(0,2,3),(0,1,2))", 7, 8), (Ranks{0, 1, 2, 6, 7}));
  EXPECT_EQ(beside("(vector,[0,(1,1,2)]x2,2)", 4, 7), (Ranks{1, 2, 4, 5}));
  EXPECT_EQ(beside("(vector,[0]x2147483647)", 1, 3), (Ranks{0, 1, 2}));
}

TEST(PmiMapping, ComesBackToANode) {
  EXPECT_EQ(beside("(vector,(0,1,1),(1,1,2),(0,1,1))", 3, 4), (Ranks{0, 3}));
}

TEST(PmiMapping, EndsWithTheRanksHoweverLargeItsNumbers) {
  EXPECT_EQ(beside("(vector,(2147483647,2147483647,1))", 1, 3), (Ranks{1}));
  EXPECT_EQ(beside("(vector,(0,1,2147483647))", 1, 3), (Ranks{0, 1, 2}));
}

TEST(PmiMapping, KnowsNobodyBesideARankThatIsNotThere) {
  EXPECT_EQ(beside("(vector,(0,1,2))", 2, 2), Ranks{});
  EXPECT_EQ(beside("(vector,(0,1,2))", -1, 2), Ranks{});
  EXPECT_EQ(beside("(vector,(0,1,2))", 0, 0), Ranks{});
}

TEST(PmiMapping, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "vector",
                           "(vector",
                           "(vector)",
                           "(vector,)",
                           "(vector,()",
                           "(vector,(0,1))",
                           "(vector,(0,1,2)",
                           "(vector,(0,1,2))x",
                           "(vector,(-1,1,2))",
                           "(vector,(0,0,2))",
                           "(vector,(0,1,0))",
                           "(vector,(0,1,99999999999))",
                           "(vector,(0,1,2),)",
                           "(vector,(0,1,2)(1,1,2))",
                           "(vector, (0,1,2))",
                           "(table,(0,1,2))",
                           "(vector,[0,1])",
                           "(vector,[]x2)",
                           "(vector,[0]x0)",
                           "(vector,[0x2)",
                           "(vector,[[0]x2]x2)",
                           "(vector,0]x2)",
                           "(vector,-1)"}) {
    EXPECT_FALSE(parse_mapping(text)) << text;
  }
}

TEST(PmiText, OfRequestsIsTakenWhole) {
  EXPECT_EQ(request_length("cmd=init x=1\ncmd=get"), 13u);
  EXPECT_EQ(request_length("mcmd=spawn\n"), 11u);
  EXPECT_EQ(request_length("14    cmd=kvs-fence;rest"), 20u);
  EXPECT_EQ(request_length("    14cmd=kvs-fence;"), 20u);
  EXPECT_EQ(request_length("000003x=1"), 9u);
  for (const char* part : {"", "c", "cmd=init", "1", "14    cmd", "     "}) {
    EXPECT_EQ(request_length(part), 0u) << part;
  }
  for (const char* other : {"x", "1 4   cmd=", "-1    c", "14x"}) {
    EXPECT_EQ(request_length(other), std::string_view(other).size()) << other;
  }
  EXPECT_EQ(exchange_of("cmd=barrier_in\n"), Protocol::kPmi1);
  EXPECT_EQ(exchange_of("14    cmd=kvs-fence;"), Protocol::kPmi2);
  for (const char* other :
       {"", "cmd=get key=barrier_in\n", "cmd=barrier_out\n", "14    cmd=kvs-get;"})
    EXPECT_FALSE(exchange_of(other)) << other;
}

TEST(PmiText, OfAnAnswerSaysWhetherAnythingWasFound) {
  EXPECT_TRUE(answers("cmd=kvs-get-response rc=0 found=TRUE value=x ", "kvs-get-response"));
  const char* none = "cmd=kvs-get-response rc=0 found=FALSE ";
  EXPECT_FALSE(answers(none, "kvs-get-response"));
  EXPECT_TRUE(says_not_found(none));
  EXPECT_FALSE(says_not_found("cmd=kvs-get-response rc=1 found=FALSE "));
  EXPECT_FALSE(says_not_found("cmd=kvs-get-response rc=0 found=TRUE "));
}

// Every rank has itself beside it, and ranks agree on who is beside whom.
TEST(PmiMapping, DividesTheRanksForAnyBlocks) {
  std::mt19937 random(1);
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  for (int round = 0; round < 200; ++round) {
    std::vector<NodePattern> mapping(1 + below(3));
    for (NodePattern& pattern : mapping) {
      pattern.times = 1 + below(3);
      pattern.blocks.resize(1 + below(3));
      for (NodeBlock& block : pattern.blocks) block = {below(4), 1 + below(4), 1 + below(4)};
    }
    const int size = 1 + below(40);
    for (int rank = 0; rank < size; ++rank) {
      const auto ranks = ranks_beside(mapping, rank, size);
      ASSERT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
      ASSERT_TRUE(std::binary_search(ranks.begin(), ranks.end(), rank));
      for (const int other : ranks) ASSERT_EQ(ranks_beside(mapping, other, size), ranks);
    }
  }
}

// Nothing is promised of such lines but that reading them ends, inside them.
TEST(PmiText, OfAnyLettersIsReadWithoutHarm) {
  constexpr std::string_view kLetters = "cmdrvaluekey=() ,vector0123456789-[]x\t\n\x80\xff";
  std::mt19937 random(2);
  const std::string good = "cmd=get_result rc=0 msg=success value=(vector,[(0,2,2),3]x2,(2,1,1))";
  std::size_t read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string line = round % 2 == 0 ? good : "";
    for (std::size_t change = random() % 12; change > 0; --change) {
      const std::size_t at = line.empty() ? 0 : random() % line.size();
      line.insert(at, 1, kLetters[random() % kLetters.size()]);
      if (random() % 2 == 0) line.erase(random() % line.size(), 1);
    }
    answers(line, "get_result");
    const auto value = field(line, "value");
    if (const auto blocks = parse_mapping(value.value_or(line))) {
      ++read;
      EXPECT_LE(ranks_beside(*blocks, 3, 7).size(), 7u);
    }
  }
  EXPECT_GT(read, 100u);
}

}  // namespace
}  // namespace thinwire::mpi::pmi
