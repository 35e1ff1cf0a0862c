#include "trace/sample_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace thinwire::mpi {
namespace {

// Keeps SIGXFSZ, which ends programs, from the thread that writes too much.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&it_);
    sigaddset(&it_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &it_, &before_);
  }
  ~NoSizeSignal() {
    const timespec now{};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&it_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t it_{}, before_{};
};

int write_all(int file, const char* data, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t moved = write(file, data + done, bytes - done);
    if (moved > 0) {
      done += static_cast<std::uint64_t>(moved);
    } else if (moved < 0 && errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

int write_file(const std::string& path, const void* data, std::uint64_t bytes) {
  const NoSizeSignal quiet;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int error = write_all(file, static_cast<const char*>(data), bytes);
  if (close(file) != 0 && error == 0) error = errno;
  if (error != 0) unlink(path.c_str());
  return error;
}

int add_line(const std::string& path, const std::string& line) {
  const NoSizeSignal quiet;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  const off_t before = lseek(file, 0, SEEK_END);
  int error = write_all(file, line.data(), line.size());
  if (error != 0 && ftruncate(file, before) != 0) error = errno;
  close(file);
  return error;
}

bool is_first(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
  return file >= 0 || errno != EEXIST;
}

}  // namespace thinwire::mpi
