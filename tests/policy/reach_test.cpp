// Rules that never match as rules before them take all that they could, alone or together.
#include "policy/reach.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace thinwire::policy {
namespace {

std::string error_of(const std::string& text) {
  const auto read = Policy::read(text, "file");
  return read.ok() ? "" : read.status().message();
}

std::string rule(const std::string& keys) { return "[[rule]]\ncodec = \"off\"\n" + keys; }

TEST(Reach, RulesThatTogetherTakeAllAreNamed) {
  EXPECT_EQ(
      error_of(rule("size-below = 1000\n") + rule("size-from = 1000\n") + rule("")),
      "file:7: the rule never matches: those of lines 1 and 4 together take all that it could");
  // The second has no part in it.
  EXPECT_EQ(error_of(rule("span = \"within-node\"\n") + rule("operation = \"bcast\"\n") +
                     rule("span = \"between-nodes\"\nsize-below = 64\n") +
                     rule("span = \"between-nodes\"\nsize-from = 32\n") +
                     rule("operation = \"send\"\nspan = [\"within-node\", \"between-nodes\"]\n")),
            "file:15: the rule never matches: those of lines 1, 7 and 11 together take all that it "
            "could");
}

TEST(Reach, EachPatternOfNamesHasItsOwn) {
  const std::string names = rule("communicator = \"dp*\"\n") + rule("communicator = \"tp?\"\n");
  EXPECT_NE(error_of(names + rule("communicator = [\"dp1\", \"tp1\"]\n")), "");
  EXPECT_EQ(error_of(names + rule("communicator = [\"dp1\", \"tp11\"]\n")), "");
  EXPECT_EQ(error_of(names + rule("")), "");
  EXPECT_EQ(error_of(rule("communicator = \"*\"\n") + rule("")), "");  // that has no name
}

// A number of ranks that is not known matches no rule that bounds it.
TEST(Reach, RanksThatAreNotKnownAreLeft) {
  const std::string ranks = rule("ranks-below = 8\n") + rule("ranks-from = 8\n");
  EXPECT_EQ(error_of(ranks + rule("")), "");
  EXPECT_NE(error_of(ranks + rule("ranks-from = 2\nranks-below = 100\n")), "");
  EXPECT_NE(error_of(rule("ranks-below = 8\n") + rule("ranks-from = 1\nranks-below = 8\n")), "");
}

std::uint32_t some_bits(std::mt19937& random, std::uint32_t of) {
  const std::uint32_t bits = random() & random() & of;
  return bits == 0 ? of : bits;
}

Rule any_rule(std::mt19937& random) {
  Rule made;
  made.operations = some_bits(random, 3);
  made.dtypes = some_bits(random, 6);
  made.spans = some_bits(random, 7);
  if (random() % 2 == 0) {
    made.bytes_from = random() % 3;
    made.bytes_below = made.bytes_from + 1 + random() % 3;
  }
  if (random() % 2 == 0) {
    made.ranks_from = random() % 3;
    made.ranks_below = made.ranks_from + 2;
  }
  return made;
}

// The ranks for which Policy::rules_of() lets the rule by.
bool takes_ranks(const Rule& rule, std::uint64_t ranks) {
  const bool bounds = rule.ranks_from != 0 || rule.ranks_below != Rule{}.ranks_below;
  return !bounds || (ranks != 0 && ranks >= rule.ranks_from && ranks < rule.ranks_below);
}

bool takes(const Rule& rule, std::uint32_t operation, std::uint32_t dtype, std::uint32_t span,
           std::uint64_t bytes, std::uint64_t ranks) {
  return (rule.operations >> operation & 1U) != 0 && (rule.dtypes >> dtype & 1U) != 0 &&
         (rule.spans >> span & 1U) != 0 && bytes >= rule.bytes_from && bytes < rule.bytes_below &&
         takes_ranks(rule, ranks);
}

// Whether every call of the last rule is one of another; `others` are looked at one by one.
bool all_are_taken(const std::vector<Rule>& rules, const std::vector<std::size_t>& others) {
  for (std::uint32_t operation = 0; operation < 2; ++operation)
    for (std::uint32_t dtype = 1; dtype < 3; ++dtype)
      for (std::uint32_t span = 0; span < 3; ++span)
        for (std::uint64_t bytes = 0; bytes < 8; ++bytes)
          for (std::uint64_t ranks = 0; ranks < 6; ++ranks) {
            if (!takes(rules.back(), operation, dtype, span, bytes, ranks)) continue;
            bool is_taken = false;
            for (const std::size_t each : others)
              is_taken |= takes(rules[each], operation, dtype, span, bytes, ranks);
            if (!is_taken) return false;
          }
  return true;
}

TEST(Reach, IsWhatTryingAllCallsFinds) {
  std::mt19937 random(19);
  int covered = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<Rule> rules;
    std::vector<std::size_t> before;
    for (std::size_t at = 0; at < 12; ++at) {
      rules.push_back(any_rule(random));
      before.push_back(at);
    }
    rules.push_back(any_rule(random));
    const std::vector<std::size_t> found = rules_that_cover(rules, rules.size() - 1);
    ASSERT_EQ(!found.empty(), all_are_taken(rules, before)) << round;
    if (found.empty()) continue;
    ++covered;
    ASSERT_TRUE(all_are_taken(rules, found)) << round;
    for (std::size_t left = 0; left < found.size(); ++left) {
      std::vector<std::size_t> fewer = found;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left));
      ASSERT_FALSE(all_are_taken(rules, fewer)) << round;
    }
  }
  EXPECT_GT(covered, 400);
  EXPECT_LT(covered, 3600);
}

TEST(Reach, ALongSearchIsGivenUp) {
  std::mt19937 random(20);
  std::vector<Rule> rules;
  for (std::size_t at = 0; at < kMostRules; ++at) {
    Rule made;
    made.operations = some_bits(random, 511);
    made.bytes_from = random() % 1000;
    made.bytes_below = made.bytes_from + 100 + random() % 500;
    made.ranks_from = 1 + random() % 1000;
    made.ranks_below = made.ranks_from + 100 + random() % 500;
    rules.push_back(made);
  }
  for (std::size_t at = 0; at < rules.size(); ++at)
    EXPECT_LE(rules_that_cover(rules, at).size(), at);
}

}  // namespace
}  // namespace thinwire::policy
