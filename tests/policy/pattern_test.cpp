#include "policy/policy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace thinwire::policy {
namespace {

TEST(Pattern, StandsForNames) {
  EXPECT_TRUE(matches("dp", "dp"));
  EXPECT_FALSE(matches("dp", "dp0"));
  EXPECT_TRUE(matches("dp*", "dp"));
  EXPECT_TRUE(matches("dp?", "dp0"));
  EXPECT_FALSE(matches("dp?", "dp"));
  EXPECT_TRUE(matches("*-dp-*", "mesh-dp-0-dp-1"));
  EXPECT_FALSE(matches("*-dp-*", "mesh-tp-0"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("a**b", "ab"));
}

// All texts over these letters of up to `most` of them.
std::vector<std::string> texts_over(const std::string& letters, std::size_t most) {
  std::vector<std::string> all = {""};
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].size() == most) break;
    for (const char each : letters) all.push_back(all[at] + each);
  }
  return all;
}

// Takes each pair of short patterns, over short names of two letters and a third that none has.
TEST(Pattern, CoversWhereNoNameSaysOtherwiseAndNeverElse) {
  const auto patterns = texts_over("ab?*", 3);
  const auto names = texts_over("abc", 5);
  for (const std::string& outer : patterns) {
    for (const std::string& inner : patterns) {
      bool all = true;
      for (const std::string& name : names) {
        all = all && (!matches(inner, name) || matches(outer, name));
      }
      if (covers(outer, inner)) {
        EXPECT_TRUE(all) << outer << " " << inner;
      } else if (inner.find("**") == inner.npos && outer.find("**") == outer.npos &&
                 outer.find("*?") == outer.npos && outer.find("?*") == outer.npos) {
        EXPECT_FALSE(all) << outer << " " << inner;
      }
    }
  }
}

}  // namespace
}  // namespace thinwire::policy
