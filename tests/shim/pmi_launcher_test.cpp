// PMI-1 with a server that behaves, and with servers that do not.
#include "shim/mpi/job/pmi_launcher.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <atomic>
#include <csetjmp>
#include <future>

#include "fake_pmi_server.h"

namespace thinwire::mpi {
namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 200ms;
const std::string kCapabilities = "0 65536 1 0 1 0,1,2";

bool publish(Launcher& launcher, const std::string& capabilities = kCapabilities) {
  launcher.publish(capabilities);
  return launcher.published();
}

bool publish_at(FakePmiServer& server) {
  PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
  return publish(launcher);
}

int unread_bytes(int descriptor) {
  int bytes = 0;
  ioctl(descriptor, FIONREAD, &bytes);
  return bytes;
}

TEST(PmiLauncher, PublishesAndLearns) {
  FakePmiServer server;
  server.put("thinwire.capabilities.2", "0_1_1_1_1_7");
  PmiLauncher launcher(server.client_end(), 1, 4);
  ASSERT_TRUE(publish(launcher));
  EXPECT_EQ(server.get("thinwire.capabilities.1"), "0_65536_1_0_1_0,1,2");
  EXPECT_EQ(launcher.job_name(), "kvs_7_0");
  EXPECT_EQ(launcher.ranks_on_this_node(), (std::vector<int>{0, 1}));
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
  EXPECT_EQ(launcher.capabilities_of(2).text, "0 1 1 1 1 7");
  EXPECT_TRUE(launcher.capabilities_of(3).known);
  EXPECT_FALSE(launcher.capabilities_of(3).text);
}

// The launcher of MPICH 4.0 forgets what was put before an init.
TEST(PmiLauncher, GreetsBeforeItPutsAndEntersNoBarrier) {
  FakePmiServer server;
  ASSERT_TRUE(publish_at(server));
  EXPECT_TRUE(server.requests().front().starts_with("cmd=init "));
  EXPECT_TRUE(server.requests().back().starts_with("cmd=put "));
  for (const auto& request : server.requests()) {
    EXPECT_EQ(request.find("barrier"), std::string::npos);
  }
}

// Until the put is sent nobody can have read the capabilities.
TEST(PmiLauncher, PublishesNothingWhereTheGreetingFails) {
  const std::map<std::string, FakePmiServer::Misdeed> misdeeds{
      {"hangs up", [](FakePmiServer& server, const std::string&) { server.hang_up(); }},
      {"is silent", [](FakePmiServer&, const std::string&) {}},
      {"says half a line",
       [](FakePmiServer& server, const std::string& right) { server.say(right.substr(0, 9)); }},
      {"says nothing in a line",
       [](FakePmiServer& server, const std::string&) { server.say("\n"); }},
      {"says something else",
       [](FakePmiServer& server, const std::string&) { server.say("cmd=barrier_out\n"); }},
      {"speaks PMI-2",
       [](FakePmiServer& server, const std::string&) {
         server.say("000038cmd=fullinit-response;rc=0;pmi-version=2\n");
       }},
      {"refuses", [](FakePmiServer& server, const std::string&) { server.say("cmd=x rc=-1\n"); }},
      {"says zeros", [](FakePmiServer& server,
                        const std::string&) { server.say(std::string(99, '\0').append("\n")); }},
      {"says too much",
       [](FakePmiServer& server, const std::string&) {
         server.say(std::string(300'000, 'x').append("\n"));
       }},
  };
  for (const char* command : {"init", "get_maxes", "get_my_kvsname", "get"}) {
    for (const auto& [name, misdeed] : misdeeds) {
      FakePmiServer server({{command, misdeed}});
      EXPECT_FALSE(publish_at(server)) << command << ' ' << name;
      EXPECT_EQ(server.get("thinwire.capabilities.1"), "") << command << ' ' << name;
    }
  }
}

TEST(PmiLauncher, KeepsOutOfADialogueUnderWay) {
  FakePmiServer server;
  server.say("cmd=tv_ready\n");
  EXPECT_FALSE(publish_at(server));
  EXPECT_TRUE(server.requests().empty());
  EXPECT_EQ(unread_bytes(server.client_end()), 13);
}

TEST(PmiLauncher, WithholdsWhatDoesNotFit) {
  for (const std::string& capabilities : {std::string(1024, '1'), std::string("two\nlines")}) {
    FakePmiServer server;
    PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
    EXPECT_FALSE(publish(launcher, capabilities));
    EXPECT_EQ(server.get("thinwire.capabilities.1"), "");
  }
}

TEST(PmiLauncher, IsNotPublishedWhereThePutIsRefused) {
  FakePmiServer server({{"put", [](FakePmiServer& self, const std::string&) {
                           self.say("cmd=put_result rc=-1 msg=no\n");
                         }}});
  EXPECT_FALSE(publish_at(server));
}

// The capabilities may be out, so this rank must expect compressed messages though it can ask
// nobody.
TEST(PmiLauncher, IsPublishedWhereThePutsAnswerIsLost) {
  for (const std::string answer : {"", "garbage\n"}) {
    FakePmiServer server({{"put", [&](FakePmiServer& self, const std::string&) {
                             answer.empty() ? self.hang_up() : self.say(answer);
                           }}});
    PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
    EXPECT_TRUE(publish(launcher)) << answer;
    EXPECT_FALSE(launcher.capabilities_of(0).known) << answer;
  }
}

// One faulty answer to a query after MPI_Init, and what is known then and afterwards.
class PmiQuery : public testing::Test {
 protected:
  void expect_unknown_for_ever(const std::function<void(FakePmiServer&)>& misdeed) {
    std::atomic<int> gets{0};
    FakePmiServer server({{"get", [&](FakePmiServer& self, const std::string& right) {
                             gets++ == 0 ? self.say(right) : misdeed(self);
                           }}});
    PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
    ASSERT_TRUE(publish(launcher));
    EXPECT_FALSE(launcher.capabilities_of(0).known);
    EXPECT_FALSE(launcher.capabilities_of(1).known);
    EXPECT_EQ(gets, 2) << "asked again";
  }
};

TEST_F(PmiQuery, OfAServerThatHangsUp) {
  expect_unknown_for_ever([](FakePmiServer& server) { server.hang_up(); });
}

TEST_F(PmiQuery, OfAServerThatHangsUpInALine) {
  expect_unknown_for_ever([](FakePmiServer& server) {
    server.say("cmd=get_result rc=0 val");
    server.hang_up();
  });
}

TEST_F(PmiQuery, WithAnAnswerToSomethingElse) {
  expect_unknown_for_ever([](FakePmiServer& server) { server.say("cmd=barrier_out\n"); });
}

TEST_F(PmiQuery, WithAnAnswerTooLongToKeep) {
  expect_unknown_for_ever([](FakePmiServer& server) {
    server.say("cmd=get_result rc=0 value=" + std::string(200'000, '1') + '\n');
  });
}

// As MPICH 5 says that there is no such key.
TEST(PmiLauncher, TakesOneWithoutAMessageForNotFound) {
  EXPECT_TRUE(pmi::says_not_found("cmd=get_result rc=1"));
  EXPECT_TRUE(
      pmi::says_not_found("cmd=get_result rc=-1 msg=key_thinwire.capabilities.0_not_found"));
  EXPECT_FALSE(pmi::says_not_found("cmd=get_result rc=1 msg=busy"));
  EXPECT_FALSE(pmi::says_not_found("cmd=get_result rc=-1"));
}

// Only "not found" is a rank without capabilities.
TEST(PmiLauncher, AsksAgainAfterARefusalThatSaysSomethingElse) {
  std::atomic<int> gets{0};
  FakePmiServer server({{"get", [&](FakePmiServer& self, const std::string& right) {
                           const int at = gets++;
                           self.say(at == 1   ? "cmd=get_result rc=-1 msg=busy value=unknown\n"
                                    : at == 2 ? "cmd=get_result rc=-1\n"
                                              : right);
                         }}});
  PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
  ASSERT_TRUE(publish(launcher));
  EXPECT_FALSE(launcher.capabilities_of(1).known);
  EXPECT_FALSE(launcher.capabilities_of(1).known);
  EXPECT_FALSE(launcher.is_lost());
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
}

TEST(PmiLauncher, PublishesNothingWhereItsNeighboursAreNotSaid) {
  FakePmiServer server({{"get", [](FakePmiServer& self, const std::string&) {
                           self.say("cmd=get_result rc=-1 msg=busy\n");
                         }}});
  EXPECT_FALSE(publish_at(server));
}

TEST(PmiLauncher, ReadsAnAnswerInPieces) {
  FakePmiServer server({{"get", [](FakePmiServer& self, const std::string& right) {
                           for (const char letter : right) {
                             self.say({&letter, 1});
                             std::this_thread::sleep_for(100us);
                           }
                         }}});
  PmiLauncher launcher(server.client_end(), 1, 4, 10s);
  ASSERT_TRUE(publish(launcher));
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
}

TEST(PmiLauncher, LeavesTheNextLineToTheMpi) {
  FakePmiServer server({{"put", [](FakePmiServer& self, const std::string& right) {
                           self.say(right + "for the MPI\n");
                         }}});
  ASSERT_TRUE(publish_at(server));
  EXPECT_EQ(unread_bytes(server.client_end()), 12);
}

TEST(PmiLauncher, GoesOnAfterASignal) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR2, &action, &before);
  const pthread_t asking = pthread_self();
  FakePmiServer server({{"get", [&](FakePmiServer& self, const std::string& right) {
                           for (int times = 0; times < 5; ++times) {
                             std::this_thread::sleep_for(2ms);
                             pthread_kill(asking, SIGUSR2);
                           }
                           self.say(right);
                         }}});
  PmiLauncher launcher(server.client_end(), 1, 4, 10s);
  EXPECT_TRUE(publish(launcher));
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
  sigaction(SIGUSR2, &before, nullptr);
}

TEST(PmiLauncher, AsksNothingDuringTheMpisOwnCalls) {
  FakePmiServer server;
  PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
  ASSERT_TRUE(publish(launcher));
  const std::size_t before = server.requests().size();
  {
    const LauncherCall spawn;
    const LauncherCall lookup;
    EXPECT_FALSE(launcher.capabilities_of(1).known);
  }
  EXPECT_EQ(server.requests().size(), before);
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
}

std::jmp_buf g_before;

[[gnu::noinline]] void leave_a_call() {
  const LauncherCall spawn;
  std::longjmp(g_before, 1);
}

[[gnu::noinline]] CapabilitiesText ask_from_deeper(PmiLauncher& launcher) {
  volatile char frame[4096];
  frame[0] = 0;
  return launcher.capabilities_of(1 + frame[0]);
}

// As an error handler of the program's may, if MPI_Comm_spawn fails.
TEST(PmiLauncher, AsksAgainAfterACallThatWasLeftByAJump) {
  FakePmiServer server;
  PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
  ASSERT_TRUE(publish(launcher));
  if (setjmp(g_before) == 0) leave_a_call();
  EXPECT_EQ(ask_from_deeper(launcher).text, kCapabilities);
  {
    const LauncherCall spawn;
    EXPECT_FALSE(launcher.capabilities_of(1).known);
  }
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
}

TEST(PmiLauncher, LetsNoCallOfTheMpiBeginWithinAnExchange) {
  std::promise<void> asked;
  std::atomic<bool> answered{false};
  std::atomic<int> gets{0};
  FakePmiServer server({{"get", [&](FakePmiServer& self, const std::string& right) {
                           if (gets++ == 1) {
                             asked.set_value();
                             std::this_thread::sleep_for(50ms);
                             answered = true;
                           }
                           self.say(right);
                         }}});
  PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
  ASSERT_TRUE(publish(launcher));
  std::thread asking([&] { EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities); });
  asked.get_future().wait();
  {
    const LauncherCall call;
    EXPECT_TRUE(answered);
  }
  asking.join();
}

// This program has no MPI, so nothing says when it would speak.
TEST(PmiLauncher, FallsSilentBesideThreadsOfAnUnknownMpi) {
  FakePmiServer server;
  PmiLauncher launcher(server.client_end(), 1, 4, kPatience);
  ASSERT_TRUE(publish(launcher));
  EXPECT_FALSE(launcher.expect_threads());
  EXPECT_FALSE(launcher.capabilities_of(1).known);
}

}  // namespace
}  // namespace thinwire::mpi
