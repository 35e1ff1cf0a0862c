#include "shim/mpi/observe/reservoir.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "shim/common/results_file.h"

namespace thinwire::mpi {

// SplitMix64.
std::uint64_t Reservoir::next_mark() {
  std::uint64_t mark = random_ += 0x9e3779b97f4a7c15;
  mark = (mark ^ (mark >> 30)) * 0xbf58476d1ce4e5b9;
  mark = (mark ^ (mark >> 27)) * 0x94d049bb133111eb;
  return mark ^ (mark >> 31);
}

// The number of an array of the kind that has the most bytes: the one of the highest mark.
std::uint64_t Reservoir::drop_one() {
  Kind& largest = std::ranges::max_element(kinds_, {}, [](const auto& each) {
                    return each.second.bytes;
                  })->second;
  const auto last = std::prev(largest.kept.end());
  const auto [mark, kept] = *last;
  largest.below = mark;
  largest.bytes -= kept.bytes;
  bytes_ -= kept.bytes;
  largest.kept.erase(last);
  return kept.number;
}

Reservoir::Verdict Reservoir::offer(std::uint32_t kind, std::uint64_t bytes) {
  Verdict verdict{false, offered_++, {}};
  Kind& own = kinds_[kind];
  const std::uint64_t mark = next_mark();
  if (mark >= own.below || bytes > most_) return verdict;
  own.kept.emplace(mark, Kept{verdict.number, bytes});
  own.bytes += bytes;
  bytes_ += bytes;
  verdict.keep = true;
  while (bytes_ > most_) {
    const std::uint64_t dropped = drop_one();
    if (dropped == verdict.number) {
      verdict.keep = false;
    } else {
      verdict.dropped.push_back(dropped);
    }
  }
  return verdict;
}

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
