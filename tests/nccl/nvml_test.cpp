// The fabric of GPUs as a made-up NVML (fake_nvml.cpp) tells it, which is asked once a process.
#include "native/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using thinwire::nccl::Fabric;

class Nvml : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("FAKE_NVML", "3:7:1 3:7:2 1:7:1 3:0:0", 1); }
};

Fabric fabric(unsigned char cluster, std::uint32_t clique) { return {{cluster}, clique}; }

TEST_F(Nvml, SaysTheFabricOfEachGpu) {
  const auto all = thinwire::nccl::fabrics_of_gpus();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], fabric(7, 1));
  EXPECT_EQ(all[1], fabric(7, 2));
  EXPECT_EQ(all[2], std::nullopt);  // it has not joined yet
  EXPECT_EQ(all[3], fabric(0, 0));
}

TEST_F(Nvml, KnowsAGpuByItsNameOnTheBus) {
  EXPECT_EQ(thinwire::nccl::fabric_of_gpu("0000:00:00.1"), fabric(7, 2));
  EXPECT_EQ(thinwire::nccl::fabric_of_gpu("0000:00:00.2"), std::nullopt);
  EXPECT_EQ(thinwire::nccl::fabric_of_gpu("0000:00:00.9"), std::nullopt);
}

}  // namespace
