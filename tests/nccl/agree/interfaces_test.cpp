// Where ranks listen.
#include <gtest/gtest.h>

#include "agree/interfaces.h"

namespace {

using namespace thinwire::nccl::agree;

Address v4(int first, int last) {
  Address made{4, 0, 0, {}};
  made.host[0] = static_cast<std::byte>(first);
  made.host[3] = static_cast<std::byte>(last);
  return made;
}

Address v6(int first, int last) {
  Address made{6, 0, 0, {}};
  made.host[0] = static_cast<std::byte>(first);
  made.host[15] = static_cast<std::byte>(last);
  return made;
}

const std::vector<Interface> kAll = {
    {"lo", v4(127, 1)}, {"eth0", v4(10, 1)},   {"eth1", v4(10, 2)},   {"ib0", v4(10, 3)},
    {"lo", v6(0, 1)},   {"eth0", v6(0x20, 4)}, {"eth1", v6(0x20, 5)}, {"ib0", v6(0x20, 6)}};
const Address kLocal = v4(192, 9);

Address chosen(std::string_view names, std::string_view family = "", Address local = kLocal) {
  return listening_address(kAll, local, names, family);
}

TEST(Interfaces, AreChosenByNameAsNcclDoes) {
  EXPECT_EQ(chosen("ib"), v4(10, 3));
  EXPECT_EQ(chosen("eth"), v4(10, 1));
  EXPECT_EQ(chosen("=eth1"), v4(10, 2));
  EXPECT_EQ(chosen("=eth"), kLocal);
  EXPECT_EQ(chosen("^lo,eth"), v4(10, 3));
  EXPECT_EQ(chosen("^=eth0,lo"), v4(10, 2));
  EXPECT_EQ(chosen("mlx,ib0:4000"), v4(10, 3));
}

TEST(Interfaces, AreOfTheFamilyThatIsNamed) {
  EXPECT_EQ(chosen("eth1", "AF_INET6"), v6(0x20, 5));
  EXPECT_EQ(chosen("eth1", "AF_INET", v6(0x20, 9)), v4(10, 2));
  EXPECT_EQ(chosen("eth1", "", v6(0x20, 9)), v6(0x20, 5)) << "the registrar's";
  EXPECT_EQ(chosen("lo", "AF_INET6"), kLocal) << "NCCL leaves it out";
}

TEST(Interfaces, GoByTheRegistrarOtherwise) {
  for (const char* none : {"", "^", "wlan"}) EXPECT_EQ(chosen(none), kLocal);
  EXPECT_EQ(chosen("ib0", "", v4(127, 1)), v4(127, 1)) << "within a host";
}

TEST(Interfaces, OfThisHostHaveItsLoopback) {
  const auto all = interfaces_of_host();
  EXPECT_EQ(listening_address(all, kLocal, "=lo", "AF_INET"), v4(127, 1));
}

}  // namespace
