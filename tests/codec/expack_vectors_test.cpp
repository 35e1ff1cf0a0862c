// The golden vectors of tests/vectors/expack-1d.txt, made by tools/make_vectors/expack.py from the
// page.
#include "codec/codecs.h"
#include "codec/golden.h"

namespace thinwire::codec::testing {
namespace {

TEST(ExpackGolden, BytesHaveNotDrifted) {
  expect_golden_lines(kExpack, THINWIRE_VECTORS "/expack-1d.txt", 133);
}

}  // namespace
}  // namespace thinwire::codec::testing
