#include "shim/common/results_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/threads.h"

namespace thinwire::shim {
namespace {

constexpr int kWaitMilliseconds = 1000;
// Flags of all that is opened: nothing waits for a reader, and no terminal becomes the program's
// own.
constexpr int kAlways = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr mode_t kMode = 0644;
// Refused, as anybody may have put it there; of no call in this file.
constexpr int kOthers = ECONNREFUSED;

bool is_own(const struct stat& of) { return of.st_uid == geteuid() || of.st_uid == 0; }

// The folder of a path, held open, so that nobody changes it for another in between.
class Folder {
 public:
  explicit Folder(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    name_ = slash == std::string::npos ? path : path.substr(slash + 1);
    file_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (file_ >= 0 && fstat(file_, &about_) != 0) about_ = {};
  }
  ~Folder() {
    const int error = errno;
    if (file_ >= 0) ::close(file_);
    errno = error;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  bool is_open() const { return file_ >= 0; }
  // Nobody but the user and the system puts anything there.
  bool is_private() const { return is_own(about_) && (about_.st_mode & (S_IWGRP | S_IWOTH)) == 0; }
  // Nobody else renames or removes there what is the user's.
  bool is_sticky() const { return is_own(about_) && (about_.st_mode & S_ISVTX) != 0; }

  int open(int flags) const { return openat(file_, name_.c_str(), kAlways | flags, kMode); }
  bool look(struct stat& found) const {
    return fstatat(file_, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  }
  bool remove() const { return unlinkat(file_, name_.c_str(), 0) == 0; }

 private:
  std::string name_;
  int file_ = -1;
  struct stat about_{};
};

int refuse(int file, int error) {
  if (file >= 0) ::close(file);
  errno = error;
  return -1;
}

// Looks at what was opened rather than at what lay there before, and only then empties it.
int checked(const Folder& folder, int file, Keeps keeps) {
  struct stat found{};
  if (file < 0 || fstat(file, &found) != 0) return refuse(file, errno);
  if (S_ISBLK(found.st_mode)) return refuse(file, EINVAL);
  if (!folder.is_private() && !is_own(found)) return refuse(file, kOthers);
  if (!S_ISREG(found.st_mode) || keeps == Keeps::kWhatIsThere) return file;
  return ftruncate(file, 0) == 0 ? file : refuse(file, errno);
}

// A file that another's may be by a second name, or that another made, gives way to a new one.
int open_anew(const Folder& folder) {
  if (!folder.remove() && errno != ENOENT) {
    return refuse(-1, errno == EPERM || errno == EACCES ? kOthers : errno);
  }
  return folder.open(O_CREAT | O_EXCL | O_NOFOLLOW);
}

int open_there(const Folder& folder, const struct stat& there, Keeps keeps) {
  const int append = keeps == Keeps::kWhatIsThere ? O_APPEND : 0;
  if (folder.is_private()) return checked(folder, folder.open(append), keeps);
  if (S_ISLNK(there.st_mode)) {
    if (!folder.is_sticky() || there.st_uid != geteuid()) return refuse(-1, kOthers);
    // The kernel of a system that protects links agrees; what it leads to is looked at, too.
    return checked(folder, folder.open(append), keeps);
  }
  if (S_ISREG(there.st_mode) && (!is_own(there) || there.st_nlink > 1)) {
    return keeps == Keeps::kNothing ? open_anew(folder) : refuse(-1, kOthers);
  }
  return checked(folder, folder.open(append | O_NOFOLLOW), keeps);
}

bool waits_for_reader(int file) {
  pollfd one{file, POLLOUT, 0};
  return poll(&one, 1, kWaitMilliseconds) == 1 && (one.revents & POLLOUT) != 0;
}

}  // namespace

int open_results(const std::string& path, Keeps keeps) {
  const Folder folder(path);
  if (!folder.is_open()) return -1;
  const int made = folder.open(O_CREAT | O_EXCL | O_NOFOLLOW);
  if (made >= 0 || errno != EEXIST) return made;
  struct stat there{};
  if (!folder.look(there)) return -1;
  const int file = open_there(folder, there, keeps);
  // A link of the user's own to where there is no file yet.
  if (file < 0 && errno == ENOENT && folder.is_private()) return folder.open(O_CREAT);
  return file;
}

std::string why_refused(int error) {
  if (error == kOthers)
    return "what is there may be another user's, in a folder that others write to";
  if (error == ENXIO) return "nobody reads that pipe";
  if (error == EAGAIN) return "the reader of that pipe does not read";
  return std::strerror(error);
}

bool is_replaceable(const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0) return errno == ENOENT;
  return S_ISREG(there.st_mode) || S_ISLNK(there.st_mode);
}

bool write_results(int file, const char* data, std::size_t bytes) {
  const NoWriteSignals quiet;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = ::write(file, data + done, bytes - done);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
    } else if (errno == EAGAIN) {
      if (!waits_for_reader(file)) {
        errno = EAGAIN;
        return false;
      }
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

int write_results(const std::string& path, const char* data, std::size_t bytes) {
  const int file = open_results(path);
  if (file < 0) return errno;
  int error = write_results(file, data, bytes) ? 0 : errno;
  struct stat written{}, there{};
  const bool is_known = fstat(file, &written) == 0;
  if (::close(file) != 0 && error == 0) error = errno;
  // Not a link that leads to it, as /dev/stdout.
  const bool is_there = is_known && S_ISREG(written.st_mode) && lstat(path.c_str(), &there) == 0 &&
                        there.st_dev == written.st_dev && there.st_ino == written.st_ino;
  if (error != 0 && is_there) unlink(path.c_str());
  return error;
}

}  // namespace thinwire::shim
