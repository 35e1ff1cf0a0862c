// Texts of capabilities that the ranks of one node share, so that their launcher is asked once a
// node for each rank of the job, and not once by each of them.
//
// They lie in memory of the first rank there (memfd_create(), no file of any folder), which its
// own capabilities name. Whoever may not open it, or finds other memory there, asks as ever. What
// is in it was published and does not change; only what the launcher has told is put there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thinwire::mpi {

class NodeCards {
 public:
  NodeCards() = default;
  ~NodeCards() { leave(); }
  NodeCards(const NodeCards&) = delete;
  NodeCards& operator=(const NodeCards&) = delete;

  // Makes memory that others may open, and returns one word by which they find it; empty: the
  // system refuses it.
  std::string offer();
  // Gives up what was offered, as another rank's is used.
  void withdraw();
  // Opens the memory that was offered here, for so many ranks; or another process'.
  bool open_own(int ranks);
  bool open(std::string_view where, int ranks);
  void leave();
  bool is_open() const { return entries_.load(std::memory_order_acquire) != nullptr; }

  // From any thread, after it was opened. A text that is too long is not kept.
  std::optional<std::string> find(int rank) const;
  void keep(int rank, std::string_view text);

 private:
  struct Entry;

  bool has_own() const;
  bool map(int file, int ranks);

  int file_ = -1;  // what was offered
  std::uint64_t token_ = 0;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  int ranks_ = 0;
  std::atomic<Entry*> entries_{nullptr};  // after all else is set
};

}  // namespace thinwire::mpi
