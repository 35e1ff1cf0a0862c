#include "base/quiet_thread.h"

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
