// A launcher's server that may be greeted once, spoken to between the MPI's own requests.
#include "shim/mpi/job/pmi_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
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
  bool is_asked = false;
  ASSERT_TRUE(relay.begin([&](pmi::Protocol) { return is_asked = true, 0; }));
  const std::string said = "    12cmd=fullinit3     x=1\x01other";
  for (const char& letter : said) ASSERT_EQ(write(ends[0], &letter, 1), 1);
  std::string heard(said.size(), '\0');
  ASSERT_EQ(recv(ends[1], heard.data(), heard.size(), MSG_WAITALL), ssize_t(said.size()));
  EXPECT_EQ(heard, said);
  ASSERT_EQ(write(ends[1], "answer", 6), 6);
  ASSERT_EQ(recv(ends[0], heard.data(), 6, MSG_WAITALL), 6);
  EXPECT_EQ(heard.substr(0, 6), "answer");
  EXPECT_FALSE(is_asked);
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

// In the middle of the library's own question, too.
TEST(PmiRelay, EndsForTheMpiIfTheLauncherHangsUpAtAQuestion) {
  FakePmiServer server({{"get", [](FakePmiServer& s, const std::string&) { s.hang_up(); }}});
  PmiLauncher launcher = launcher_at(server.client_end());
  launcher.publish(kCapabilities);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(Mpi(server.client_end()).start(), "nothing");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
  launcher.mpi_has_started();
  EXPECT_FALSE(launcher.published());
}

// One that comes after the library has given up waiting is not the MPI's.
TEST(PmiRelay, DropsALateAnswer) {
  FakePmiServer server({{"get", [](FakePmiServer& s, const std::string& right) {
                           std::this_thread::sleep_for(500ms);
                           s.say(right);
                         }}});
  PmiLauncher launcher = launcher_at(server.client_end());
  launcher.publish(kCapabilities);
  Mpi mpi(server.client_end());
  EXPECT_EQ(mpi.start(), "cmd=barrier_out rc=0");
  EXPECT_EQ(mpi.ask("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=kvs_7_0");
  launcher.mpi_has_started();
  EXPECT_FALSE(launcher.published());
  EXPECT_EQ(mpi.ask("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=kvs_7_0");
}

// Runs `child` in a process of its own on one end of a socket pair, and returns how that ended.
int exit_code_of(const std::function<void(int)>& child, std::string* heard = nullptr) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
  const pid_t process = fork();
  if (process == 0) {
    close(ends[1]);
    child(ends[0]);
    _exit(1);
  }
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  char text[64] = {};
  const ssize_t got = recv(ends[1], text, sizeof text, MSG_DONTWAIT);
  if (heard != nullptr && got > 0) heard->assign(text, static_cast<std::size_t>(got));
  close(ends[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A watchdog of the program's ends the process while the MPI waits for an answer, or asks.
TEST(PmiRelay, LeavesTheMpiWaitingIfTheProcessEnds) {
  const int code = exit_code_of([](int descriptor) {
    auto* const relay = new PmiRelay(descriptor);  // never destroyed, as the library's
    if (!relay->begin([](pmi::Protocol) { return 0; })) return;
    std::thread([descriptor] {
      char letter;
      if (recv(descriptor, &letter, 1, 0) <= 0) _exit(15);
    }).detach();
    std::thread([descriptor] {
      while (write(descriptor, "cmd=x\n", 6) == 6) std::this_thread::sleep_for(1ms);
      _exit(16);
    }).detach();
    std::this_thread::sleep_for(50ms);
    std::exit(3);
  });
  EXPECT_EQ(code, 3);
}

// Its exit handlers are those of the library, too.
TEST(PmiRelay, IsTheParentsInAForkedChild) {
  std::string heard;
  const int code = exit_code_of(
      [](int descriptor) {
        auto* const relay = new PmiRelay(descriptor);
        if (!relay->begin([](pmi::Protocol) { return 0; })) return;
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        waitpid(child, nullptr, 0);
        const pid_t other = fork();
        if (other == 0) {
          delete relay;
          _exit(0);
        }
        waitpid(other, nullptr, 0);
        if (write(descriptor, "cmd=first\n", 10) != 10) return;
        relay->end();
        _exit(write(descriptor, "cmd=second\n", 11) == 11 ? 5 : 1);
      },
      &heard);
  EXPECT_EQ(code, 5);
  EXPECT_EQ(heard, "cmd=first\ncmd=second\n");
}

// A standard stream that is closed stays closed: somebody may write to it.
TEST(PmiRelay, TakesNoNumberOfAStandardStream) {
  const int code = exit_code_of([](int descriptor) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
    static PmiRelay relay(descriptor);
    if (!relay.begin([](pmi::Protocol) { return 0; })) return;
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      if (fcntl(stream, F_GETFD) >= 0) _exit(2);
    }
    relay.end();
    _exit(7);
  });
  EXPECT_EQ(code, 7);
}

// A process whose MPI gives up within MPI_Init has told the launcher so before.
TEST(PmiRelay, HandsOnLastWords) {
  std::string heard;
  const int code = exit_code_of(
      [](int descriptor) {
        auto* const relay = new PmiRelay(descriptor);
        if (!relay->begin([](pmi::Protocol) { return 0; })) return;
        if (write(descriptor, "cmd=abort exitcode=7\n", 21) == 21) std::exit(7);
      },
      &heard);
  EXPECT_EQ(code, 7);
  EXPECT_EQ(heard, "cmd=abort exitcode=7\n");
}

TEST(PmiRelay, LeavesAFileThatHasTheMpisNumberByThen) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  PmiRelay relay(ends[0]);
  ASSERT_TRUE(relay.begin([](pmi::Protocol) { return 0; }));
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
  for (const rlim_t more : {0, 1, 2, 3, 4, 20}) {
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
