#include "costs/nccl_links.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace thinwire::costs {
namespace {

namespace fs = std::filesystem;

constexpr double kGbit = 1e9 / 8;

class NcclLinksOf : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(system_); }
  void TearDown() override { fs::remove_all(system_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((system_ / path).parent_path());
    std::ofstream(system_ / path) << text << '\n';
  }
  void interface(const std::string& name, const std::string& speed, const char* lies_on = "device",
                 const char* state = "up") {
    write("class/net/" + name + "/speed", speed);
    write("class/net/" + name + "/operstate", state);
    if (*lies_on != '\0') fs::create_directories(system_ / "class/net" / name / lies_on);
  }
  void port(const std::string& adapter, const std::string& rate,
            const std::string& state = "4: ACTIVE", const std::string& number = "1") {
    const std::string at = "class/infiniband/" + adapter + "/ports/" + number;
    write(at + "/state", state);
    write(at + "/rate", rate);
  }
  NcclLinks found(const NcclNetwork& network = {}) const { return nccl_links(system_, network); }
  double together(const NcclNetwork& network = {}) const { return found(network).together / kGbit; }

  // Tests run beside each other, a process each.
  const fs::path system_ =
      fs::path(testing::TempDir()) / ("thinwire-nccl-sys-" + std::to_string(getpid()));
};

TEST_F(NcclLinksOf, ActivePortsComeBeforeOtherInterfaces) {
  interface("eth0", "25000");
  port("mlx5_0", "400 Gb/sec (4X NDR)");
  port("mlx5_1", "200 Gb/sec (4X HDR)");
  port("mlx5_2", "400 Gb/sec (4X NDR)", "1: DOWN");
  const NcclLinks links = found();
  EXPECT_DOUBLE_EQ(links.together, 600 * kGbit);
  EXPECT_DOUBLE_EQ(links.fastest, 400 * kGbit);
  EXPECT_DOUBLE_EQ(most_of_node(links, 1), 400 * kGbit);
  EXPECT_DOUBLE_EQ(most_of_node(links, 8), 600 * kGbit);
}

TEST_F(NcclLinksOf, AGpuHasItsPartOfMoreInterfaces) {
  for (const char* const name : {"a", "b", "c", "d", "e", "f", "g", "h"}) port(name, "100 Gb/sec");
  EXPECT_DOUBLE_EQ(most_of_node(found(), 1), 100 * kGbit);
  for (const char* const gpu : {"0000:1b:00.0", "0000:1c:00.0", "bind", "new_id"})
    write(std::string("bus/pci/drivers/nvidia/") + gpu, "");
  EXPECT_EQ(found().gpus, 2);
  EXPECT_DOUBLE_EQ(most_of_node(found(), 1), 400 * kGbit);
  EXPECT_DOUBLE_EQ(most_of_node(found(), 2), 800 * kGbit);
  EXPECT_DOUBLE_EQ(most_of_node(found(), 6), 2400 * kGbit);  // three machines
}

TEST_F(NcclLinksOf, InterfacesOfAPluginAreNotKnown) {
  port("mlx5_0", "100 Gb/sec (4X EDR)");
  interface("eth0", "25000");
  EXPECT_DOUBLE_EQ(together({.net = "ib"}), 100);
  EXPECT_EQ(together({.net = "GPUDirectTCPX"}), 0);
}

TEST_F(NcclLinksOf, SettingsChoosePorts) {
  interface("eth0", "25000");
  port("mlx5_0", "100 Gb/sec (4X EDR)");
  port("mlx5_0", "40 Gb/sec (4X QDR)", "4: ACTIVE", "2");
  port("mlx5_1", "200 Gb/sec (4X HDR)");
  port("mlx5_10", "400 Gb/sec (4X NDR)");
  EXPECT_DOUBLE_EQ(together({.hca = "mlx5_0"}), 140);
  EXPECT_DOUBLE_EQ(together({.hca = "mlx5_0:2"}), 40);
  EXPECT_DOUBLE_EQ(together({.hca = "mlx5_1"}), 600);
  EXPECT_DOUBLE_EQ(together({.hca = "=mlx5_1"}), 200);
  EXPECT_DOUBLE_EQ(together({.hca = "=mlx5_1,mlx5_0:1"}), 300);
  EXPECT_DOUBLE_EQ(together({.hca = "^mlx5_1"}), 140);
  EXPECT_DOUBLE_EQ(together({.hca = "^=mlx5_1"}), 540);
  EXPECT_DOUBLE_EQ(together({.has_ports = false}), 25);
  EXPECT_DOUBLE_EQ(together({.net = "socket"}), 25);
  EXPECT_DOUBLE_EQ(together({.hca = "none"}), 25);
}

TEST_F(NcclLinksOf, SettingsChooseInterfaces) {
  interface("eth0", "10000");
  interface("eth1", "25000");
  interface("ens3", "100000");
  interface("veth1", "10000", "");
  interface("eth2", "50000", "device", "down");
  EXPECT_DOUBLE_EQ(together(), 135);
  EXPECT_DOUBLE_EQ(together({.interfaces = "eth"}), 35);
  EXPECT_DOUBLE_EQ(together({.interfaces = "=eth0"}), 10);
  EXPECT_DOUBLE_EQ(together({.interfaces = "^eth"}), 100);
  EXPECT_DOUBLE_EQ(together({.interfaces = "^=eth0,ens3"}), 25);
  EXPECT_DOUBLE_EQ(together({.interfaces = "veth"}), 0);
  interface("ib0", "56000");
  EXPECT_DOUBLE_EQ(together(), 56);  // as NCCL prefers it
  EXPECT_DOUBLE_EQ(together({.interfaces = "eth1"}), 25);
}

TEST_F(NcclLinksOf, BondsCountInThePlaceOfTheirParts) {
  interface("eth0", "25000");
  interface("eth1", "25000");
  interface("bond0", "50000", "bonding");
  for (const char* const part : {"eth0", "eth1"})
    fs::create_directory_symlink(system_ / "class/net/bond0",
                                 system_ / "class/net" / part / "master");
  EXPECT_DOUBLE_EQ(together(), 50);
}

// One that is used and does not tell makes all unknown: the others are no bound.
TEST_F(NcclLinksOf, WhatIsMalformedIsNotKnown) {
  for (const char* const text : {"", "-1", "0", "garbage", "1e400", "nan", "inf",
                                 "99999999999999999", "25000 garbage", "0x10"}) {
    interface("eth0", "25000");
    interface("eth1", text);
    EXPECT_EQ(found().together, 0) << text;
    EXPECT_EQ(found().fastest, 0) << text;
    EXPECT_DOUBLE_EQ(together({.interfaces = "eth0"}), 25) << text;
  }
  for (const char* const text : {"", "-1 Gb/sec", "garbage", "1e400 Gb/sec", "100", "100 GB/s",
                                 "999999999 Gb/sec", "nan Gb/sec"}) {
    port("mlx5_0", "100 Gb/sec (4X EDR)");
    port("mlx5_1", text);
    EXPECT_EQ(found().together, 0) << text;
    EXPECT_DOUBLE_EQ(together({.hca = "mlx5_0"}), 100) << text;
  }
  write("class/infiniband/mlx5_1/ports/1/rate", std::string(1 << 20, '9'));
  EXPECT_EQ(found().together, 0);
}

TEST_F(NcclLinksOf, FoldersThatCannotBeReadAreNotKnown) {
  EXPECT_EQ(found().together, 0);  // there are none
  write("class/net", "no folder");
  EXPECT_EQ(found().together, 0);
  fs::remove(system_ / "class/net");
  interface("eth0", "25000");
  EXPECT_DOUBLE_EQ(together(), 25);
  write("class/infiniband", "no folder");
  EXPECT_EQ(found().together, 0);
  EXPECT_DOUBLE_EQ(together({.has_ports = false}), 25);
  fs::remove(system_ / "class/infiniband");
  write("class/infiniband/mlx5_0/ports", "no folder");
  EXPECT_EQ(found().together, 0);
  // Without a name that can be opened, as for a user who may not.
  fs::remove_all(system_ / "class/infiniband");
  fs::create_directories(system_ / "class/infiniband");
  fs::permissions(system_ / "class/infiniband", fs::perms::none);
  if (geteuid() != 0) EXPECT_EQ(found().together, 0);
  fs::permissions(system_ / "class/infiniband", fs::perms::all);
}

}  // namespace
}  // namespace thinwire::costs
