// Two devices that are not alike have a limit each.
#include <gtest/gtest.h>

#include "device/launch.h"
#include "fake_cuda/fake_cuda.h"
#include "fake_cuda/state.h"

namespace thinwire {
namespace {

TEST(SharedLimit, IsTheCurrentDevices) {
  const int before = fake_cuda::current_device();
  for (const int device : {0, 1, 0}) {
    fake_cuda::current_device() = device;
    EXPECT_EQ(device::shared_limit(), static_cast<unsigned>(fake_cuda::kSharedBytes[device]));
    EXPECT_EQ(device::has_small_blocks(), device == 0);
  }
  fake_cuda::current_device() = before;
}

}  // namespace
}  // namespace thinwire
