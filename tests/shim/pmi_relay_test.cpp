// A launcher's server that may be greeted once, spoken to between the MPI's own requests.
#include "shim/mpi/job/pmi_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "fake_pmi_server.h"
#include "shim/mpi/job/pmi_launcher.h"

namespace thinwire::mpi {
namespace {

using namespace std::chrono_literals;
const std::string kCapabilities = "0 65536 1 0 1 0,1,2";
const std::string kGreeting = "cmd=init pmi_version=1 pmi_subversion=1";

// An MPI on its descriptor.
class Mpi {
 public:
  explicit Mpi(int descriptor, pmi::Protocol protocol = pmi::Protocol::kPmi1)
      : channel_(descriptor, protocol) {
    channel_.set_patience(5s);
  }
  std::string ask(const std::string& request) { return channel_.ask(request).value_or("nothing"); }
  // As MPICH's MPI_Init.
  std::string start() {
    ask(kGreeting);
    ask("cmd=get_maxes");
    ask("cmd=get_my_kvsname");
    ask("cmd=put kvsname=kvs_7_0 key=own value=x");
    return ask("cmd=barrier_in");
  }

 private:
  pmi::Channel channel_;
};

PmiLauncher launcher_at(int descriptor) {
  return PmiLauncher(descriptor, 1, 4, 200ms, PmiLauncher::Greetings::kOne);
}

std::size_t position_of(const std::vector<std::string>& lines, const std::string& front) {
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].starts_with(front)) return at;
  }
  return lines.size();
}

std::size_t number_of(const std::vector<std::string>& lines, const std::string& front) {
  std::size_t number = 0;
  for (const std::string& line : lines) number += line.starts_with(front) ? 1 : 0;
  return number;
}

TEST(PmiRelay, PutsBeforeTheFirstBarrierAndGreetsNobody) {
  FakePmiServer server;
  server.put("thinwire.capabilities.2", "0_1_1_1_1_7");
  PmiLauncher launcher = launcher_at(server.client_end());
  launcher.publish(kCapabilities);
  EXPECT_TRUE(server.requests().empty());
  Mpi mpi(server.client_end());
  EXPECT_EQ(mpi.start(), "cmd=barrier_out rc=0");
  EXPECT_EQ(mpi.ask("cmd=barrier_in"), "cmd=barrier_out rc=0");
  launcher.mpi_has_started();
  ASSERT_TRUE(launcher.published());
  const auto requests = server.requests();
  EXPECT_EQ(number_of(requests, "cmd=init"), 1u);
  EXPECT_EQ(number_of(requests, "cmd=barrier_in"), 2u);
  EXPECT_EQ(number_of(requests, "cmd=put kvsname=kvs_7_0 key=thinwire"), 1u);
  EXPECT_LT(position_of(requests, "cmd=put kvsname=kvs_7_0 key=thinwire"),
            position_of(requests, "cmd=barrier_in"));
  EXPECT_EQ(server.get("thinwire.capabilities.1"), "0_65536_1_0_1_0,1,2");
  EXPECT_EQ(launcher.job_name(), "kvs_7_0");
  EXPECT_EQ(launcher.ranks_on_this_node(), (std::vector<int>{0, 1}));
  EXPECT_EQ(launcher.capabilities_of(2).text, "0 1 1 1 1 7");
  EXPECT_EQ(mpi.ask("cmd=get kvsname=kvs_7_0 key=own"), "cmd=get_result rc=0 msg=success value=x");
}

TEST(PmiRelay, PutsInPmi2IfTheMpiSpeaksThat) {
  FakePmiServer server;
  server.put("thinwire.capabilities.2", "0_1_1_1_1_7");
  PmiLauncher launcher = launcher_at(server.client_end());
  launcher.publish(kCapabilities);
  Mpi mpi(server.client_end(), pmi::Protocol::kPmi2);
  EXPECT_EQ(mpi.ask("cmd=fullinit;pmirank=1;"), "cmd=fullinit-response rc=0 ");
  EXPECT_EQ(mpi.ask("cmd=kvs-fence;"), "cmd=kvs-fence-response rc=0 ");
  launcher.mpi_has_started();
  ASSERT_TRUE(launcher.published());
  EXPECT_EQ(server.requests().back(), "cmd=kvs-fence ");
  EXPECT_EQ(server.get("thinwire.capabilities.1"), "0_65536_1_0_1_0,1,2");
  EXPECT_EQ(launcher.job_name(), "21.0");
  EXPECT_EQ(launcher.ranks_on_this_node(), (std::vector<int>{0, 1}));
  EXPECT_EQ(launcher.capabilities_of(1).text, kCapabilities);
  EXPECT_EQ(launcher.capabilities_of(2).text, "0 1 1 1 1 7");
  EXPECT_TRUE(launcher.capabilities_of(3).known);
  EXPECT_FALSE(launcher.capabilities_of(3).text);
  EXPECT_EQ(mpi.ask("cmd=finalize;"), "cmd=finalize-response rc=0 ");
}

// An answer that is no PMI-2, or is longer than any.
TEST(PmiRelay, AsksNoMoreAfterAnAnswerThatIsNone) {
  for (const char* said : {"cmd=kvs-get-response rc=0\n", "-1    x", "9999999", "70000 "}) {
    FakePmiServer server(
        {{"kvs-get", [said](FakePmiServer& s, const std::string&) { s.say(said); }}});
    PmiLauncher launcher = launcher_at(server.client_end());
    launcher.publish(kCapabilities);
    Mpi(server.client_end(), pmi::Protocol::kPmi2).ask("cmd=kvs-fence;");
    launcher.mpi_has_started();
    EXPECT_FALSE(launcher.capabilities_of(2).known) << said;
    EXPECT_TRUE(launcher.is_lost()) << said;
  }
}

TEST(PmiRelay, PublishesNothingIfNoExchangeCarriesIt) {
  FakePmiServer server;
  PmiLauncher launcher = launcher_at(server.client_end());
  launcher.publish(kCapabilities);
  EXPECT_NE(Mpi(server.client_end()).ask(kGreeting), "nothing");
  launcher.mpi_has_started();
  EXPECT_FALSE(launcher.published());
  EXPECT_EQ(server.requests(), std::vector<std::string>{kGreeting});
}

// Lengths before requests, of which none ends in a newline; and what is neither.
TEST(PmiRelay, HandsOnOtherProtocols) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  PmiRelay relay(ends[0]);
  ASSERT_TRUE(relay.begin([](pmi::Protocol) { FAIL(); }));
  const std::string said = "    12cmd=fullinit3     x=1\x01other";
  for (const char& letter : said) ASSERT_EQ(write(ends[0], &letter, 1), 1);
  std::string heard(said.size(), '\0');
  ASSERT_EQ(recv(ends[1], heard.data(), heard.size(), MSG_WAITALL), ssize_t(said.size()));
  EXPECT_EQ(heard, said);
  ASSERT_EQ(write(ends[1], "answer", 6), 6);
  ASSERT_EQ(recv(ends[0], heard.data(), 6, MSG_WAITALL), 6);
  EXPECT_EQ(heard.substr(0, 6), "answer");
  relay.end();
  relay.end();
  close(ends[0]);
  close(ends[1]);
}

TEST(PmiRelay, EndsForTheMpiIfTheLauncherHangsUp) {
  FakePmiServer server({{"get_maxes", [](FakePmiServer& s, const std::string&) { s.hang_up(); }}});
  PmiLauncher launcher = launcher_at(server.client_end());
  launcher.publish(kCapabilities);
  EXPECT_EQ(Mpi(server.client_end()).start(), "nothing");
  launcher.mpi_has_started();
  EXPECT_FALSE(launcher.published());
}

// A process whose MPI gives up within MPI_Init has told the launcher so before.
TEST(PmiRelay, HandsOnLastWords) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    PmiRelay relay(ends[0]);
    if (relay.begin([](pmi::Protocol) {}) && write(ends[0], "cmd=abort exitcode=7\n", 21) == 21)
      std::exit(7);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  char heard[64] = {};
  EXPECT_EQ(recv(ends[1], heard, sizeof heard, MSG_DONTWAIT), 21);
  close(ends[0]);
  close(ends[1]);
}

TEST(PmiRelay, LeavesAFileThatHasTheMpisNumberByThen) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  PmiRelay relay(ends[0]);
  ASSERT_TRUE(relay.begin([](pmi::Protocol) {}));
  close(ends[0]);
  const int file = open("/dev/null", O_WRONLY);
  ASSERT_EQ(dup2(file, ends[0]), ends[0]);
  relay.end();
  EXPECT_EQ(write(ends[0], "x", 1), 1);
  char heard;
  EXPECT_LT(recv(ends[1], &heard, 1, MSG_DONTWAIT), 0);
  close(file);
  close(ends[0]);
  close(ends[1]);
}

TEST(PmiRelay, ChangesNothingWithoutDescriptors) {
  FakePmiServer server;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  for (rlim_t more = 0; more < 4; ++more) {
    const int next = dup(0);
    close(next);
    const rlimit few{static_cast<rlim_t>(next) + more, before.rlim_max};
    PmiLauncher launcher = launcher_at(server.client_end());
    setrlimit(RLIMIT_NOFILE, &few);
    launcher.publish(kCapabilities);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(Mpi(server.client_end()).start(), "cmd=barrier_out rc=0") << more;
    launcher.mpi_has_started();
    EXPECT_FALSE(launcher.published());
    EXPECT_NE(Mpi(server.client_end()).ask("cmd=get_maxes"), "nothing");
  }
}

}  // namespace
}  // namespace thinwire::mpi
