#include "shim/mpi/observe/sample_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "shim/common/results_file.h"

namespace thinwire::mpi {

int write_file(const std::string& path, const void* data, std::uint64_t bytes) {
  return shim::write_results(path, static_cast<const char*>(data), bytes);
}

int add_line(const std::string& path, const std::string& line) {
  const int file = shim::open_results(path, shim::Keeps::kWhatIsThere);
  if (file < 0) return errno;
  const off_t before = lseek(file, 0, SEEK_END);
  int error = shim::write_results(file, line.data(), line.size()) ? 0 : errno;
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
