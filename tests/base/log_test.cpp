// Lines of the log end nobody, whoever reads them.
#include "base/log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace thinwire {
namespace {

// Standard error is another file for as long as it lives.
class OtherErrors {
 public:
  explicit OtherErrors(int file) : before_(dup(STDERR_FILENO)) {
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~OtherErrors() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }

 private:
  int before_;
};

bool is_pending(int number) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, number) == 1;
}

TEST(Log, APipeWhoseReaderHasGoneEndsNoProgram) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  {
    const OtherErrors errors(ends[1]);
    log(LogLevel::kError, "nobody reads this");  // SIGPIPE would end the test
  }
  EXPECT_FALSE(is_pending(SIGPIPE));
}

TEST(Log, AFileThatMayNotGrowEndsNoProgram) {
  char path[] = "/tmp/thinwire-log-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  unlink(path);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  {
    const OtherErrors errors(file);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    log(LogLevel::kError, "there is no room");  // SIGXFSZ would end the test
    setrlimit(RLIMIT_FSIZE, &before);
  }
  EXPECT_FALSE(is_pending(SIGXFSZ));
}

}  // namespace
}  // namespace thinwire
