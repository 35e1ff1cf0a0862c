// The golden vectors of tests/vectors/ans.txt, made by tools/make_vectors/ans.py from the page.
#include "codec/codecs.h"
#include "codec/golden.h"

namespace thinwire::codec::testing {
namespace {

TEST(AnsGolden, BytesHaveNotDrifted) {
  expect_golden_lines(kAns, THINWIRE_VECTORS "/ans.txt", 280);
}

}  // namespace
}  // namespace thinwire::codec::testing
