#include "costs/links.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace thinwire::costs {
namespace {

namespace fs = std::filesystem;

class Links : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(system_); }
  void TearDown() override { fs::remove_all(system_); }

  void write(const fs::path& path, const char* text) {
    fs::create_directories((system_ / path).parent_path());
    std::ofstream(system_ / path) << text << '\n';
  }

  void interface(const std::string& name, const char* speed, const char* state, bool physical) {
    write("class/net/" + name + "/speed", speed);
    write("class/net/" + name + "/operstate", state);
    if (physical) fs::create_directories(system_ / "class/net" / name / "device");
  }

  // Tests run beside each other, a process each.
  const fs::path system_ =
      fs::path(testing::TempDir()) / ("thinwire-sys-" + std::to_string(getpid()));
};

TEST_F(Links, TakesTheFastestThatIsUp) {
  interface("eth0", "1000", "up", true);
  interface("eth1", "25000", "up", true);
  interface("eth2", "100000", "down", true);
  const Interface found = fastest_interface(system_);
  EXPECT_EQ(found.name, "eth1");
  EXPECT_DOUBLE_EQ(found.bytes_per_second, 25e9 / 8);
}

TEST_F(Links, LeavesVirtualOnesOut) {
  interface("veth0", "10000", "up", false);
  interface("docker0", "10000", "up", false);
  EXPECT_EQ(fastest_interface(system_).bytes_per_second, 0);
}

TEST_F(Links, TakesNoSpeedThatADriverDoesNotKnow) {
  interface("eth0", "-1", "up", true);
  interface("eth1", "", "up", true);
  interface("eth2", "fast", "up", true);
  EXPECT_EQ(fastest_interface(system_).bytes_per_second, 0);
}

TEST_F(Links, ReadsActivePorts) {
  interface("eth0", "25000", "up", true);
  write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  write("class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
  write("class/infiniband/mlx5_1/ports/1/state", "1: DOWN");
  write("class/infiniband/mlx5_1/ports/1/rate", "400 Gb/sec (4X NDR)");
  const Interface found = fastest_interface(system_);
  EXPECT_EQ(found.name, "mlx5_0");
  EXPECT_DOUBLE_EQ(found.bytes_per_second, 100e9 / 8);
}

TEST_F(Links, SaysNothingWithoutASystem) {
  EXPECT_EQ(fastest_interface(system_ / "nowhere").name, "");
}

}  // namespace
}  // namespace thinwire::costs
