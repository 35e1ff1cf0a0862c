#include "base/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <string>

namespace thinwire {
namespace {

sigset_t blocked_here() {
  sigset_t blocked{};
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return blocked;
}

TEST(QuietThread, TakesNoSignalsButThoseOfItsOwnFaults) {
  sigset_t inside{};
  quiet_thread("quiet", [&] { inside = blocked_here(); }).join();
  for (const int sent : {SIGTERM, SIGINT, SIGALRM, SIGUSR1, SIGPROF, SIGCHLD, SIGRTMIN + 3}) {
    EXPECT_EQ(sigismember(&inside, sent), 1) << sent;
  }
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    EXPECT_EQ(sigismember(&inside, own), 0) << own;
  }
}

TEST(QuietThread, MayRunWhereTheProcessMay) {
  cpu_set_t before{}, one{}, inside{}, inherited{};
  sched_getaffinity(0, sizeof before, &before);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one processor";
  const auto look = [](cpu_set_t& into) { sched_getaffinity(0, sizeof into, &into); };
  int first = 0;
  while (CPU_ISSET(first, &before) == 0) ++first;
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one);
  quiet_thread("quiet", [&] { look(inside); }, Runs::kAnywhere).join();
  quiet_thread("quiet", [&] { look(inherited); }).join();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_TRUE(CPU_EQUAL(&inside, &before));
  EXPECT_TRUE(CPU_EQUAL(&inherited, &one));
}

TEST(QuietThread, LeavesTheCallersSignalsAsTheyAre) {
  sigset_t one{}, before{};
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  quiet_thread("quiet", [] {}).join();
  const sigset_t after = blocked_here();
  EXPECT_EQ(sigismember(&after, SIGUSR2), 1);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(QuietThread, HasItsName) {
  std::string name(16, '\0');
  quiet_thread("thinwire-calls", [&] {
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }).join();
  EXPECT_STREQ(name.c_str(), "thinwire-calls");
}

}  // namespace
}  // namespace thinwire
