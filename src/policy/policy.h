// Ordered rules that name the codec of a message or of a collective call. Pure: no environment, no
// MPI, no NCCL. The first rule that matches takes it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace thinwire::policy {

// Names with * and ?: what a rule says of a communicator's name.

// `*` stands for any bytes, also none, `?` for one; everything else for itself.
bool matches(std::string_view pattern, std::string_view name);

// True only if every name that `inner` matches is one of `outer`'s.
bool covers(std::string_view outer, std::string_view inner);

// plan::Operation's numbers, and after them a message from one rank to another.
inline constexpr std::uint32_t kSend = 8;
inline constexpr std::uint32_t kOperations = 9;
const char* operation_word(std::uint32_t operation);

// The ranks that something is sent to. Values are part of the C ABI (tw_span).
enum class Span : std::uint32_t { kNotKnown = 0, kWithinNode = 1, kBetweenNodes = 2 };

// Sets of operations, dtypes and spans are masks, a bit for each.
struct Rule {
  std::string name;
  int line = 0;
  std::uint32_t operations = (1U << kOperations) - 1;
  std::vector<std::string> communicators;  // patterns; none: whatever it is called
  std::uint32_t dtypes = ((1U << kDtypeCount) - 1) & ~dtype_bit(Dtype::kBytes);
  // The real type of the bytes and 16-bit integers that the rule takes, and of nothing else;
  // kBytes: it takes floats, as `dtypes` says.
  Dtype holds = Dtype::kBytes;
  std::uint32_t spans = 7;  // a rule that names one does not match what is not known
  std::uint64_t bytes_from = 0;
  std::uint64_t bytes_below = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t ranks_from = 0;
  std::uint64_t ranks_below = std::numeric_limits<std::uint64_t>::max();
  // NCCL: so many communicators of one name are siblings (decision 0074); 1: each
  // alone; 0: not said.
  std::uint32_t siblings = 0;
  std::string codec;  // "off", "default", or a spec in its normal form

  // The rule as a sentence: "allreduce on communicators dp*, of bf16, from 1048576 bytes on:
  // zfp:rate=16".
  std::string text() const;
};

struct Call {
  std::uint32_t operation = 0;
  Dtype dtype = Dtype::kF32;  // kBytes: bytes and 16-bit integers
  Span span = Span::kNotKnown;
  std::uint64_t bytes = 0;  // the largest number: not known
};

// Rules, one bit each, the first lowest.
using RuleSet = std::uint64_t;
inline constexpr std::size_t kMostRules = 63;

class Policy {
 public:
  // Errors are "FILE:LINE: WHAT", with `file` as it is given.
  static Result<Policy> read(std::string_view text, const std::string& file);

  const std::vector<Rule>& rules() const { return rules_; }

  // A hash that tells policies apart: equal if the rules do the same in the same order, whatever
  // they are called and wherever they stand.
  std::uint64_t hash() const;

  // The rules that may take calls on a communicator of that many ranks with that name. Without a
  // name these are none that has a pattern, without a number of ranks (0) none that bounds it.
  RuleSet rules_of(const std::optional<std::string_view>& name, std::uint64_t ranks) const;
  // The index of the first of `among` that takes the call; -1: none; -2: the size is not known, and
  // what the first that might take it makes of that.
  int match(const Call& call, RuleSet among) const;

 private:
  std::vector<Rule> rules_;
};

}  // namespace thinwire::policy
