// The environment's policy for NCCL calls (docs/guide/policy.md), and what it has taken.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "state/counters.h"
#include "state/settings.h"

namespace thinwire::nccl {

enum Side { kWithinNode, kBetweenNodes, kSides };

// The choice for one call, for either place where its data may go: the ranks know which it is once
// they know their nodes. The same on all of them beforehand.
struct Choice {
  std::array<int, kSides> rule{-1, -1};
  std::array<unsigned, kSides> codec{};  // of Settings::codecs
  std::array<int, kSides> reason{};      // why it goes raw there by its arguments; 0: it need not

  // The rule that is counted where it is not known which place it is; -1: none, or one of two.
  int only_rule() const { return rule[0] == rule[1] ? rule[0] : -1; }
};

// Rules and codecs; the reasons are the caller's. `operation`: Operation, see calls.
Choice choose(int operation, std::uint32_t dtype, std::uint64_t bytes, std::uint64_t rules);

// A bit for each rule that may take calls of a communicator of that name; 0 without a policy.
std::uint64_t rules_for(const std::string& name, int ranks);

// How many communicators of its name the policy calls siblings, for one that these rules may take;
// 1: it has none; 0: the policy does not say.
std::uint32_t siblings_by(std::uint64_t rules);

// Counts what has gone by each rule since the process began.
void count_by_rule(int rule, std::uint64_t bytes, std::uint64_t wire_bytes, bool compressed);
// A list of JSON objects, in the order of rules; "" without a policy.
std::string rules_as_json();

}  // namespace thinwire::nccl
