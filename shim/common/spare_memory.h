// Memory for the library's own small records when the process is refused more: a preload library
// keeps records of calls that the program has already made, and must not end it for want of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace thinwire::shim {

// Blocks of powers of two within one array, which is part of the library and needs no request to
// the system. Any thread may use it.
class SpareMemory {
 public:
  static constexpr std::size_t kAll = std::size_t{4} << 20;
  static constexpr std::size_t kLargest = std::size_t{64} << 10;  // of one block

  // Lends at least `bytes` bytes, aligned for any type; null if that is more than kLargest or no
  // block is left.
  void* take(std::size_t bytes) {
    if (bytes > kLargest) return nullptr;
    const unsigned size = size_of(bytes);
    const std::lock_guard lock(mutex_);
    if (Block* const kept = free_[size]; kept != nullptr) {
      free_[size] = kept->next;
      return kept + 1;
    }
    const std::size_t whole = sizeof(Block) + (kSmallest << size);
    if (kAll - used_ < whole) return nullptr;
    auto* const made = new (all_.data() + used_) Block{nullptr, size};
    used_ += whole;
    return made + 1;
  }

  bool holds(const void* at) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    const auto begin = reinterpret_cast<std::uintptr_t>(all_.data());
    return address >= begin && address - begin < kAll;
  }

  // Gives back what take() gave.
  void give_back(void* at) {
    Block* const block = static_cast<Block*>(at) - 1;
    const std::lock_guard lock(mutex_);
    block->next = free_[block->size];
    free_[block->size] = block;
  }

 private:
  static constexpr std::size_t kSmallest = 32;
  static constexpr unsigned kSizes = std::bit_width(kLargest / kSmallest);

  // Stands before each block's bytes.
  struct alignas(std::max_align_t) Block {
    Block* next;
    unsigned size;
  };

  // Which power of two, counted from kSmallest.
  static unsigned size_of(std::size_t bytes) {
    return bytes <= kSmallest ? 0 : static_cast<unsigned>(std::bit_width((bytes - 1) / kSmallest));
  }

  std::mutex mutex_;
  std::array<Block*, kSizes> free_{};
  std::size_t used_ = 0;
  alignas(std::max_align_t) std::array<std::byte, kAll> all_{};
};

}  // namespace thinwire::shim
