#include "policy/policy.h"

#include <gtest/gtest.h>

#include <string>

namespace thinwire::policy {
namespace {

constexpr const char* kGroups =
    "[[rule]]\n"
    "name = \"gradients\"\n"
    "communicator = [\"dp*\", \"*_dp\"]\n"
    "operation = [\"allreduce\", \"reduce-scatter\"]\n"
    "dtype = \"bf16\"\n"
    "span = \"between-nodes\"\n"
    "size-from = \"1MiB\"\n"
    "codec = \"blockq:bits=8\"\n"
    "\n"
    "[[rule]]\n"
    "communicator = \"tp*\"\n"
    "codec = \"off\"\n"
    "\n"
    "[[rule]]\n"
    "ranks-from = 4\n"
    "ranks-below = 9\n"
    "size-below = 1048576\n"
    "codec = \"default\"\n";

Policy policy_of(const std::string& text) {
  auto read = Policy::read(text, "file");
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? std::move(*read) : Policy{};
}

std::string error_of(const std::string& text) {
  const auto read = Policy::read(text, "file");
  return read.ok() ? "" : read.status().message();
}

constexpr std::uint32_t kAllreduce = 6;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(Policy, TheFirstRuleThatMatchesTakesACall) {
  const Policy policy = policy_of(kGroups);
  const RuleSet of_dp = policy.rules_of("dp0", 8);
  EXPECT_EQ(of_dp, 0b101U);
  const Call gradients = {kAllreduce, Dtype::kBf16, Span::kBetweenNodes, kMiB};
  EXPECT_EQ(policy.match(gradients, of_dp), 0);
  auto other = gradients;
  other.bytes = kMiB - 1;
  EXPECT_EQ(policy.match(other, of_dp), 2);
  other = gradients;
  other.dtype = Dtype::kF32;
  EXPECT_EQ(policy.match(other, of_dp), -1);
  other = gradients;
  other.operation = kSend;
  EXPECT_EQ(policy.match(other, of_dp), -1);
  for (const Span span : {Span::kNotKnown, Span::kWithinNode}) {
    other = gradients;
    other.span = span;
    EXPECT_EQ(policy.match(other, of_dp), -1);
  }
  EXPECT_EQ(policy.match(gradients, policy.rules_of("tp1", 2)), 1);
  other.bytes = ~std::uint64_t{0};
  EXPECT_EQ(policy.match(other, policy.rules_of("tp1", 2)), 1);
  EXPECT_EQ(policy.match(other, policy.rules_of("tp1", 8)), 1);
  EXPECT_EQ(policy.match(other, policy.rules_of("pp", 8)), -2);
  EXPECT_EQ(policy.match(other, policy.rules_of("pp", 2)), -1);
  other.dtype = Dtype::kBytes;
  EXPECT_EQ(policy.match(other, ~RuleSet{0}), -1);
}

TEST(Policy, WhatIsNotKnownOfACommunicatorMatchesNoRuleThatAsksForIt) {
  const Policy policy = policy_of(kGroups);
  EXPECT_EQ(policy.rules_of("mesh_dp", 3), 0b001U);
  EXPECT_EQ(policy.rules_of(std::nullopt, 8), 0b100U);
  EXPECT_EQ(policy.rules_of("dp", 9), 0b001U);
  EXPECT_EQ(policy.rules_of("pp", 0), 0U);
}

// Bytes and 16-bit integers are one kind, floats are none of it, and no sum of them is taken.
TEST(Policy, ARuleMaySayWhatBytesHold) {
  const Policy policy = policy_of(
      "[[rule]]\nholds = \"bf16\"\nsize-from = 16\ncodec = \"blockq:bits=8\"\n"
      "[[rule]]\ncodec = \"off\"\n");
  EXPECT_EQ(policy.rules()[0].holds, Dtype::kBf16);
  EXPECT_EQ(policy.rules()[1].holds, Dtype::kBytes);
  Call call = {kSend, Dtype::kBytes, Span::kNotKnown, 16};
  for (std::uint32_t operation = 0; operation < kOperations; ++operation) {
    call.operation = operation;
    const bool adds = std::string(operation_word(operation)).find("reduce") != std::string::npos;
    EXPECT_EQ(policy.match(call, 3), adds ? -1 : 0) << operation_word(operation);
  }
  call.bytes = 15;
  EXPECT_EQ(policy.match(call, 3), -1);
  call = {kSend, Dtype::kBf16, Span::kNotKnown, 16};
  EXPECT_EQ(policy.match(call, 3), 1);
  EXPECT_EQ(policy.rules()[0].text(),
            "bcast, allgather, gather, scatter, alltoall and send, of bytes and 16-bit integers "
            "that hold bf16, from 16 bytes: blockq:bits=8,block=32");
  EXPECT_EQ(policy_of("[[rule]]\nholds = \"e4m3\"\ncodec = \"expack\"\n").rules()[0].holds,
            Dtype::kE4m3);
  const std::string other = "[[rule]]\ncodec = \"lossless\"\nholds = ";
  EXPECT_NE(policy_of(other + "\"f16\"").hash(), policy_of(other + "\"bf16\"").hash());
}

TEST(Policy, RulesAreSaidInWords) {
  const Policy policy = policy_of(kGroups);
  EXPECT_EQ(policy.rules()[0].text(),
            "allreduce and reduce-scatter on communicators named dp* or *_dp, of bf16, between "
            "nodes, from 1048576 bytes: blockq:bits=8,block=32");
  EXPECT_EQ(policy.rules()[1].text(), "all operations on communicators named tp*: off");
  EXPECT_EQ(policy.rules()[2].text(),
            "all operations, below 1048576 bytes, from 4 to below 9 ranks: default");
}

TEST(Policy, HashesTellWhatRulesDo) {
  const std::uint64_t hash = policy_of(kGroups).hash();
  EXPECT_EQ(policy_of("# other words\n\n" + std::string(kGroups)).hash(), hash);
  std::string changed = kGroups;
  changed.replace(changed.find("gradients"), 9, "others");
  EXPECT_EQ(policy_of(changed).hash(), hash);
  changed.replace(changed.find("bits=8"), 6, "bits=4");
  EXPECT_NE(policy_of(changed).hash(), hash);
  const std::string one = "[[rule]]\ncodec = \"off\"\ncommunicator = ";
  EXPECT_NE(policy_of(one + "[\"a\", \"b\"]").hash(), policy_of(one + "\"a or b\"").hash());
}

TEST(Policy, EachWrongRuleIsNamedWithItsLine) {
  const std::string off = "codec = \"off\"\n";
  const std::string rule = "[[rule]]\n";
  const struct {
    std::string text;
    const char* error;
  } cases[] = {
      {"", "file:1: there is no [[rule]]"},
      {"[[rules]]\n", "file:1: a heading is [[rule]], nothing else"},
      {rule, "file:1: the rule has no codec"},
      {rule + "codec = \"zpf\"\n", "file:2: no codec named 'zpf'; "},
      {rule + "codec = 1\n", "file:2: 'codec' is a text in quotes"},
      {rule + off + "operations = \"send\"\n", "file:3: 'operations' is no key of a rule; "},
      {rule + off + "operation = \"broadcast\"\n", "file:3: 'operation': 'broadcast' is none of "},
      {rule + off + "operation = []\n", "file:3: 'operation' is a text in quotes, or a list"},
      {rule + off + "dtype = [\"f32\", \"f32\"]\n", "file:3: 'dtype': 'f32' is named twice"},
      {rule + off + "dtype = \"bytes\"\n", "file:3: 'dtype': 'bytes' is none of f32, f64, f16"},
      {rule + off + "span = \"far\"\n", "file:3: 'span': 'far' is none of within-node, betw"},
      {rule + off + "size-from = \"1XB\"\n", "file:3: '1XB' is not a size"},
      {rule + off + "ranks-from = \"4\"\n", "file:3: 'ranks-from' is a whole number"},
      {rule + off + "size-from = 8\nsize-below = 8\n", "file:1: no size is from 8 and below 8"},
      {rule + off + "ranks-below = 1\n", "file:1: no communicator has from 0 to below 1 ranks"},
      {rule + off + "name = \"a\\\"\"\n", "file:3: a text in double quotes has no backslash"},
      {rule + off + "name = 'a\"'\n", "file:3: a rule's name has letters"},
      {rule + off + "holds = \"fp8\"\n", "file:3: 'holds': 'fp8' is none of f32, f64, f16"},
      {rule + off + "holds = [\"f16\"]\n", "file:3: 'holds' is a text in quotes"},
      {rule + off + "dtype = \"f32\"\nholds = \"f16\"\n", "file:4: 'holds' says what the values"},
      {rule + off + "holds = \"f16\"\noperation = [\"send\", \"reduce\"]\n",
       "file:3: sums of bytes and integers are the program's own"},
      {rule + "codec = \"default\"\nholds = \"f16\"\n", "file:3: a rule with 'holds' names its"},
      {rule + "codec = \"zfp:rate=8\"\nholds = \"f16\"\n", "file:2: zfp:rate=8 does not take f16"},
      {rule + "codec = \"zfp:rate=8\"\ndtype = [\"f32\", \"bf16\"]\n",
       "file:2: zfp:rate=8 does not take bf16"},
      {rule + "operation = \"send\"\ncodec = \"szp:allreduce-abs=1e-4\"\n",
       "file:3: szp:allreduce-abs=1e-4 bounds reductions alone"},
      {rule + off + "name = \"a\"\nspan = \"within-node\"\n" + rule + off + "name = \"a\"\n",
       "file:5: the rule of line 1 is called 'a', too"},
      {rule + off + "communicator = [\"d*\", \"x\"]\n\n" + rule + off +
           "communicator = [\"dp?\", \"x\"]\ndtype = \"f32\"\n",
       "file:5: the rule never matches: that of line 1 takes all that it could"},
      {rule + off + rule + off, "file:3: the rule never matches"},
  };
  for (const auto& each : cases) {
    EXPECT_TRUE(error_of(each.text).starts_with(each.error)) << error_of(each.text) << "\n"
                                                             << each.text;
  }
}

// Each of these is taken in part alone.
TEST(Policy, RulesThatAnEarlierOneLeavesSomethingAreTaken) {
  const std::string narrow[] = {
      "operation = \"send\"",   "communicator = \"dp*\"", "dtype = [\"f32\", \"f64\", \"f16\"]",
      "span = \"within-node\"", "size-from = 1",          "size-below = \"1GiB\"",
      "ranks-from = 3",         "ranks-below = 3"};
  for (const std::string& each : narrow) {
    const std::string text =
        "[[rule]]\ncodec = \"off\"\n" + each + "\n[[rule]]\ncodec = \"auto\"\n";
    EXPECT_EQ(error_of(text), "") << text;
  }
}

TEST(Policy, HasABoundedNumberOfRules) {
  std::string text;
  for (std::size_t at = 0; at < kMostRules; ++at) {
    text += "[[rule]]\ncommunicator = \"c" + std::to_string(at) + "\"\ncodec = \"off\"\n";
  }
  const Policy policy = policy_of(text);
  EXPECT_EQ(policy.rules_of("c62", 2), RuleSet{1} << 62);
  EXPECT_TRUE(error_of(text + "[[rule]]\ncodec = \"off\"\n")
                  .starts_with("file:190: there are more than 63 rules"));
}

TEST(Policy, ARuleSaysHowManyCommunicatorsOfANameDecideTogether) {
  const auto with = [](const std::string& said) {
    return "[[rule]]\ncommunicator = \"dp*\"\n" + said + "codec = \"zfp:rate=8\"\n";
  };
  const Policy none = policy_of(with("")), alone = policy_of(with("siblings = 1\n")),
               two = policy_of(with("siblings = 2\n"));
  EXPECT_EQ(none.rules()[0].siblings, 0U);
  EXPECT_EQ(two.rules()[0].siblings, 2U);
  EXPECT_EQ(two.rules()[0].text(),
            "all operations on communicators named dp*, 2 of a name decided on together: "
            "zfp:rate=8");
  EXPECT_EQ(alone.rules()[0].text(),
            "all operations on communicators named dp*, each decided on alone: zfp:rate=8");
  EXPECT_NE(none.hash(), two.hash()) << "ranks must have it alike";
  EXPECT_NE(alone.hash(), two.hash());
  const std::string wrong =
      "file:3: 'siblings' is how many communicators of one name decide together, from 1 on";
  EXPECT_EQ(error_of(with("siblings = 0\n")), wrong);
  EXPECT_EQ(error_of(with("siblings = 99999999\n")), wrong);
  EXPECT_EQ(error_of(with("siblings = \"two\"\n")), "file:3: 'siblings' is a whole number");
  EXPECT_EQ(error_of("[[rule]]\nsiblings = 2\ncodec = \"off\"\n"),
            "file:1: siblings are told by their name: the rule has no 'communicator'");
  EXPECT_EQ(error_of("[[rule]]\nsiblings = 1\ncodec = \"off\"\n"), "");
}

}  // namespace
}  // namespace thinwire::policy
