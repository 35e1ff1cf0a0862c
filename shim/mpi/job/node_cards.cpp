#include "shim/mpi/job/node_cards.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "shim/mpi/job/capabilities.h"
#include "shim/mpi/job/descriptors.h"

namespace thinwire::mpi {
namespace {

constexpr char kName[] = "thinwire-capabilities";
constexpr std::size_t kHeaderBytes = 4096;  // a page: the token
// The most that a node gives for it. Jobs of more ranks than fit there ask as ever.
constexpr std::size_t kMostBytes = 64 << 20;
constexpr std::uint32_t kEmpty = 0, kBeingWritten = 1, kThere = 2;

// The numbers of a word such as "12:34:56"; false: it has others.
bool read_place(std::string_view where, int& process, int& file, std::uint64_t& token) {
  const std::size_t first = where.find(':');
  if (first == std::string_view::npos) return false;
  const std::size_t second = where.find(':', first + 1);
  if (second == std::string_view::npos) return false;
  return read_number(where.substr(0, first), process) &&
         read_number(where.substr(first + 1, second - first - 1), file) &&
         read_number(where.substr(second + 1), token) && process > 0 && file >= 0;
}

// A descriptor of that number may be another by now, on which opening waits or does something.
bool is_such_memory(const std::string& path) {
  const std::string wanted = std::string("/memfd:") + kName + " (deleted)";
  std::array<char, 64> found{};
  const ssize_t length = readlink(path.c_str(), found.data(), found.size());
  return length > 0 && std::string_view(found.data(), static_cast<std::size_t>(length)) == wanted;
}

// Whether the process may make files so long: else the system ends it.
bool may_be_as_long(std::size_t bytes) {
  rlimit most{};
  return getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes <= most.rlim_cur;
}

bool has_token(int file, std::uint64_t token) {
  std::uint64_t there = 0;
  return pread(file, &there, sizeof there, 0) == static_cast<ssize_t>(sizeof there) &&
         there == token;
}

}  // namespace

// Zeros at first, as all of such memory. One that a process has died over stays as it is.
struct NodeCards::Entry {
  static constexpr std::size_t kBytes = 512;
  std::atomic<std::uint32_t> state;
  std::uint32_t length;
  std::array<char, kBytes - 2 * sizeof(std::uint32_t)> text;
};

std::string NodeCards::offer() {
  leave();
  if (!may_be_as_long(sizeof token_)) return "";
  if (getrandom(&token_, sizeof token_, 0) != static_cast<ssize_t>(sizeof token_)) return "";
  file_ = above_streams(memfd_create(kName, MFD_CLOEXEC));
  if (file_ < 0) return "";
  if (pwrite(file_, &token_, sizeof token_, 0) != static_cast<ssize_t>(sizeof token_)) {
    close(std::exchange(file_, -1));
    return "";
  }
  return std::to_string(getpid()) + ':' + std::to_string(file_) + ':' + std::to_string(token_);
}

// A program may have closed all descriptors, and have this number for a file of its own by now.
bool NodeCards::has_own() const {
  return file_ >= 0 && is_such_memory("/proc/self/fd/" + std::to_string(file_)) &&
         has_token(file_, token_);
}

void NodeCards::withdraw() {
  if (has_own()) close(file_);
  file_ = -1;
}

bool NodeCards::open_own(int ranks) { return has_own() && map(file_, ranks); }

bool NodeCards::open(std::string_view where, int ranks) {
  int process = 0, number = 0;
  std::uint64_t token = 0;
  if (!read_place(where, process, number, token)) return false;
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  if (!is_such_memory(path)) return false;
  const int file = above_streams(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file < 0) return false;
  const bool is_mapped = has_token(file, token) && map(file, ranks);
  close(file);
  return is_mapped;
}

// Each process makes it as long as it needs it, which all of a job do alike, and has the system
// give its pages now: one that it could not give later would end the process.
bool NodeCards::map(int file, int ranks) {
  const std::size_t bytes = kHeaderBytes + static_cast<std::size_t>(ranks) * sizeof(Entry);
  if (bytes > kMostBytes || !may_be_as_long(bytes)) return false;
  if (fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0) return false;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return false;
  mapped_ = at;
  mapped_bytes_ = bytes;
  ranks_ = ranks;
  entries_.store(reinterpret_cast<Entry*>(static_cast<char*>(at) + kHeaderBytes),
                 std::memory_order_release);
  return true;
}

void NodeCards::leave() {
  withdraw();
  entries_.store(nullptr, std::memory_order_release);
  if (mapped_ != nullptr) munmap(std::exchange(mapped_, nullptr), mapped_bytes_);
}

std::optional<std::string> NodeCards::find(int rank) const {
  const Entry* const entries = entries_.load(std::memory_order_acquire);
  if (entries == nullptr || rank < 0 || rank >= ranks_) return std::nullopt;
  const Entry& entry = entries[rank];
  if (entry.state.load(std::memory_order_acquire) != kThere) return std::nullopt;
  const std::size_t length = entry.length;
  if (length > entry.text.size()) return std::nullopt;
  return std::string(entry.text.data(), length);
}

void NodeCards::keep(int rank, std::string_view text) {
  Entry* const entries = entries_.load(std::memory_order_acquire);
  if (entries == nullptr || rank < 0 || rank >= ranks_) return;
  Entry& entry = entries[rank];
  std::uint32_t before = kEmpty;
  if (text.size() > entry.text.size()) return;
  if (!entry.state.compare_exchange_strong(before, kBeingWritten)) return;
  std::memcpy(entry.text.data(), text.data(), text.size());
  entry.length = static_cast<std::uint32_t>(text.size());
  entry.state.store(kThere, std::memory_order_release);
}

}  // namespace thinwire::mpi
