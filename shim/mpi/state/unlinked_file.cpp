#include "shim/mpi/state/unlinked_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace thinwire::mpi {
namespace {

// `move(bytes done)` moves some bytes and returns how many.
template <typename Move>
bool move_all(std::uint64_t bytes, Move&& move) {
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t moved = move(done);
    if (moved > 0) {
      done += static_cast<std::uint64_t>(moved);
    } else if (moved == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

UnlinkedFile::UnlinkedFile(std::uint64_t bytes) : bytes_(bytes) {
  const char* folder = std::getenv("TMPDIR");
  file_ = open(folder == nullptr || *folder == '\0' ? "/tmp" : folder,
               O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ < 0 || posix_fallocate(file_, 0, static_cast<off_t>(bytes)) == 0) return;
  close(file_);
  file_ = -1;
}

UnlinkedFile::~UnlinkedFile() {
  if (file_ >= 0) close(file_);
}

void* UnlinkedFile::map() const {
  void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  return data == MAP_FAILED ? nullptr : data;
}

bool UnlinkedFile::write(std::uint64_t offset, std::uint64_t bytes, const void* from) const {
  return move_all(bytes, [&](std::uint64_t done) {
    return pwrite(file_, static_cast<const char*>(from) + done, bytes - done,
                  static_cast<off_t>(offset + done));
  });
}

bool UnlinkedFile::read(std::uint64_t offset, std::uint64_t bytes, void* to) const {
  return move_all(bytes, [&](std::uint64_t done) {
    return pread(file_, static_cast<char*>(to) + done, bytes - done,
                 static_cast<off_t>(offset + done));
  });
}

}  // namespace thinwire::mpi
