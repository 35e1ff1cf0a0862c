// Tests of the addresses at which ranks listen.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>

#include "agree/address.h"
#include "agree/socket.h"

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

Address of_link(int last, std::uint32_t scope) {
  Address made = v6(0xFE, last);
  made.host[1] = std::byte{0x80};
  made.scope = scope;
  return made;
}

// As systems list them: addresses of IPv4 first, those of a link after or before others.
const std::vector<Interface> kWithLinks = {
    {"lo", v4(127, 1)},    {"eth0", v4(10, 1)},     {"lo", v6(0, 1)},     {"ib0", of_link(6, 3)},
    {"eth0", v6(0x20, 4)}, {"eth0", of_link(4, 2)}, {"ib0", v6(0x20, 6)}, {"ib1", of_link(7, 4)}};

Address among_links(std::string_view names, std::string_view family = "", Address local = kLocal) {
  return listening_address(kWithLinks, local, names, family);
}

TEST(Interfaces, HaveAnAddressOfOneLinkOnlyIfTheyHaveNoOther) {
  EXPECT_EQ(among_links("ib0"), v6(0x20, 6));
  EXPECT_EQ(among_links("", "", of_link(6, 3)), v6(0x20, 6)) << "the registrar's link";
  EXPECT_EQ(among_links("", "AF_INET", of_link(4, 2)), v4(10, 1));
  EXPECT_EQ(among_links("eth0", "AF_INET6"), v6(0x20, 4));
  EXPECT_EQ(among_links("ib1"), of_link(7, 4)) << "with its interface";
  EXPECT_EQ(among_links("ib1,ib0"), v6(0x20, 6));
}

TEST(Interfaces, OfALinkAreThoseOfThisMachine) {
  const auto seen = [](const Address& address) { return seen_from_here(address, kWithLinks); };
  EXPECT_EQ(seen(v6(0x20, 9)), v6(0x20, 9));
  EXPECT_EQ(seen(of_link(6, 9)), of_link(6, 3)) << "its own address";
  EXPECT_EQ(seen(of_link(99, 4)), of_link(99, 4)) << "as NCCL connects";
  EXPECT_EQ(seen(of_link(99, 9)), std::nullopt) << "any of three";
  const std::vector<Interface> one{kWithLinks[0], kWithLinks[4], kWithLinks[5]};
  EXPECT_EQ(seen_from_here(of_link(99, 9), one), of_link(99, 2)) << "the only one";
  EXPECT_EQ(seen_from_here(of_link(99, 9), kAll), std::nullopt);
}

TEST(Interfaces, OfALinkAreWrittenWithTheirInterface) {
  Address address = of_link(6, 3);
  address.port = 4000;
  EXPECT_EQ(address_text(address), "[fe80::6%3]:4000");
  EXPECT_EQ(address_text(v6(0, 1)), "[::1]:0");
}

// Each on its own machine, which numbers its interfaces in its own way.
TEST(Interfaces, OfALinkAreConnectedToByTheNumberThatTheyHaveHere) {
  const auto all = interfaces_of_host();
  const auto own =
      std::ranges::find_if(all, [](const Interface& each) { return is_of_link(each.address); });
  if (own == all.end()) GTEST_SKIP() << "no interface of this machine has an address of its link";
  Address at = own->address;
  const Socket listening = listen_on(at);
  ASSERT_TRUE(static_cast<bool>(listening));
  at.scope += 1000;
  const Socket made = start_connecting(at);
  ASSERT_TRUE(static_cast<bool>(made));
  pollfd watched{made.fd(), POLLOUT, 0};
  ASSERT_EQ(::poll(&watched, 1, 5000), 1);
  EXPECT_EQ(connect_error(made), 0);
}

}  // namespace
