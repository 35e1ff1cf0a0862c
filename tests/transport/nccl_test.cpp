// What can be said of NCCL without a GPU: its functions are found, or what lacks is told.
#include <gtest/gtest.h>

#include "transport/nccl/library.h"
#include "transport/nccl/transport.h"

namespace thinwire::transport {
namespace {

TEST(Nccl, NeedsACommunicator) {
  EXPECT_EQ(make_nccl(nullptr).status().code(), StatusCode::kInvalidArgument);
}

TEST(Nccl, HasItsFunctions) {
  const auto found = nccl::library();
  if (!found.ok()) {
    EXPECT_EQ(found.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(found.status().message().find("THINWIRE_NCCL"), std::string::npos);
    GTEST_SKIP() << found.status().message();
  }
  EXPECT_STREQ((*found)->error_string(ncclSuccess), "no error");
  EXPECT_EQ((*found)->group_start(), ncclSuccess);
  EXPECT_EQ((*found)->group_end(), ncclSuccess);
}

}  // namespace
}  // namespace thinwire::transport
