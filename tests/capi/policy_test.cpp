// Policies over the C interface.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "growth.h"
#include "thinwire/thinwire.h"

namespace {

using Policy = std::unique_ptr<tw_policy, decltype(&tw_policy_destroy)>;

constexpr const char* kText =
    "[[rule]]\nname = \"gradients\"\ncommunicator = \"dp*\"\noperation = \"allreduce\"\n"
    "codec = \"mpc\"\n\n"
    "[[rule]]\noperation = \"send\"\ncodec = \"default\"\n";

Policy policy_of(const char* text) {
  tw_policy* made = nullptr;
  EXPECT_EQ(tw_policy_create(text, "text", &made), TW_OK) << tw_last_error();
  return {made, tw_policy_destroy};
}

tw_policy_call call_of(std::uint32_t operation, std::uint64_t rules) {
  return {sizeof(tw_policy_call), operation, TW_F32, TW_SPAN_NOT_KNOWN, 4096, rules};
}

TEST(Policies, AreMatchedAndDescribed) {
  const Policy policy = policy_of(kText);
  ASSERT_EQ(tw_policy_rule_count(policy.get()), 2U);
  const std::uint64_t rules = tw_policy_rules(policy.get(), "dp0", 4);
  EXPECT_EQ(rules, 3U);
  EXPECT_EQ(tw_policy_rules(policy.get(), nullptr, 0), 2U);
  auto call = call_of(TW_ALLREDUCE, rules);
  EXPECT_EQ(tw_policy_match(policy.get(), &call), 0);
  call = call_of(TW_POLICY_SEND, rules);
  EXPECT_EQ(tw_policy_match(policy.get(), &call), 1);
  call = call_of(TW_BCAST, rules);
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
  tw_policy_rule rule{};
  rule.size = sizeof rule;
  ASSERT_EQ(tw_policy_describe(policy.get(), 0, &rule), TW_OK);
  EXPECT_STREQ(rule.name, "gradients");
  EXPECT_STREQ(rule.codec, "mpc:stride=1");
  EXPECT_STREQ(rule.text, "allreduce on communicators named dp*: mpc:stride=1");
  EXPECT_EQ(rule.line, 1U);
  ASSERT_EQ(tw_policy_describe(policy.get(), 1, &rule), TW_OK);
  EXPECT_STREQ(rule.name, "");
  EXPECT_STREQ(rule.codec, "default");
  EXPECT_EQ(rule.line, 7U);
}

// Words and numbers are those of the calls that a policy is about.
TEST(Policies, CallOperationsAsTheInterfaceDoes) {
  for (std::uint32_t operation = 0; operation < TW_POLICY_SEND; ++operation) {
    const std::string text = std::string("[[rule]]\ncodec = \"off\"\noperation = \"") +
                             tw_operation_text(operation) + "\"\n";
    const Policy policy = policy_of(text.c_str());
    for (std::uint32_t other = 0; other <= TW_POLICY_SEND; ++other) {
      const auto call = call_of(other, 1);
      EXPECT_EQ(tw_policy_match(policy.get(), &call), other == operation ? 0 : -1);
    }
  }
}

TEST(Policies, SayWhatBytesHold) {
  const Policy policy = policy_of("[[rule]]\nholds = \"f16\"\ncodec = \"expack\"\n");
  tw_policy_rule rule{};
  rule.size = sizeof rule;
  ASSERT_EQ(tw_policy_describe(policy.get(), 0, &rule), TW_OK);
  EXPECT_EQ(rule.holds, static_cast<std::uint32_t>(TW_F16));
  auto call = call_of(TW_POLICY_SEND, 1);
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
  call.dtype = TW_BYTES;
  EXPECT_EQ(tw_policy_match(policy.get(), &call), 0);
}

TEST(Policies, HashesTellThemApart) {
  const Policy one = policy_of(kText), same = policy_of((std::string("#\n") + kText).c_str());
  const Policy other = policy_of("[[rule]]\ncodec = \"off\"\n");
  EXPECT_EQ(tw_policy_hash(one.get()), tw_policy_hash(same.get()));
  EXPECT_NE(tw_policy_hash(one.get()), tw_policy_hash(other.get()));
  EXPECT_EQ(tw_policy_hash(nullptr), 0U);
}

TEST(Policies, OfFilesNameFileAndLine) {
  const std::string path = testing::TempDir() + "policy-" + std::to_string(getpid()) + ".toml";
  tw_policy* made = nullptr;
  std::ofstream(path) << kText;
  ASSERT_EQ(tw_policy_open(path.c_str(), &made), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_policy_rule_count(made), 2U);
  tw_policy_destroy(made);
  made = nullptr;
  std::ofstream(path) << "[[rule]]\ncodec = \"off\"\ncolour = \"red\"\n";
  EXPECT_EQ(tw_policy_open(path.c_str(), &made), TW_INVALID_ARGUMENT);
  EXPECT_TRUE(std::string(tw_last_error()).starts_with(path + ":3: 'colour' is no key"));
  std::remove(path.c_str());
  EXPECT_EQ(tw_policy_open(path.c_str(), &made), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_last_error(), path + ": No such file or directory");
  EXPECT_EQ(tw_policy_open(testing::TempDir().c_str(), &made), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_policy_open("/dev/zero", &made), TW_INVALID_ARGUMENT);
  EXPECT_STREQ(tw_last_error(), "/dev/zero: more than 1 MiB");
  EXPECT_EQ(made, nullptr);
}

TEST(Policies, WrongArgumentsAreRefused) {
  tw_policy* made = nullptr;
  EXPECT_EQ(tw_policy_create(nullptr, "", &made), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_policy_create(kText, nullptr, &made), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_policy_create(kText, "", nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_policy_open(nullptr, &made), TW_INVALID_ARGUMENT);
  const Policy policy = policy_of(kText);
  tw_policy_rule rule{};
  EXPECT_EQ(tw_policy_describe(policy.get(), 0, &rule), TW_INVALID_ARGUMENT);
  rule.size = sizeof rule;
  EXPECT_EQ(tw_policy_describe(policy.get(), 2, &rule), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_policy_describe(nullptr, 0, &rule), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_policy_rules(nullptr, "dp", 2), 0U);
  auto call = call_of(TW_POLICY_SEND, 3);
  EXPECT_EQ(tw_policy_match(nullptr, &call), -1);
  EXPECT_EQ(tw_policy_match(policy.get(), nullptr), -1);
  call.operation = TW_POLICY_SEND + 1;
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
  call = call_of(TW_POLICY_SEND, 3);
  call.dtype = TW_BYTES;
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
  call.dtype = 7;
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
  call = call_of(TW_POLICY_SEND, 3);
  call.span = 3;
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
  call = call_of(TW_POLICY_SEND, 3);
  call.size = 0;
  EXPECT_EQ(tw_policy_match(policy.get(), &call), -1);
}

TEST(Policies, Grow) {
  const Policy policy = policy_of(kText);
  expect_output_grows<tw_policy_rule>(
      "tw_policy_rule", [&](auto* out) { return tw_policy_describe(policy.get(), 0, out); });
}

}  // namespace
