// The values of kinds on one rank: read by a host thread without a lock, written by the helper.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agree/gate.h"

namespace thinwire::nccl::agree {

class Ledger {
 public:
  explicit Ledger(Gate& gate) : gate_(gate) {}
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // For the host, as Channel has it.
  Answer value(std::uint64_t call, std::uint64_t key);
  void confirm(std::uint64_t call) { confirmed_ = call; }
  // Whether it would wait.
  bool waits(std::uint64_t call, std::uint64_t key) const {
    const Kind* const found = find(key);
    return found != nullptr && call >= found->limit.load();
  }

  // How many values of the kind are kept. From any thread.
  std::size_t steps(std::uint64_t key) const;

  // For the helper. The host does not pass the limit that comes back, for calls of this kind,
  // before commit(); it has not come to it yet.
  std::uint64_t freeze(std::uint64_t key, std::uint64_t window);
  // Calls of the kind from `from` on, which is no less than the limit, have the value.
  void commit(std::uint64_t key, std::uint64_t from, Value value);
  // Ends an agreement in place of commit(): the value that held goes on.
  void release(std::uint64_t key);
  // As Gate::end(), of these calls alone.
  void end(Outcome how);

 private:
  // Newest first. The helper puts one before the first and looks at no other; the host, which may
  // be far behind, walks on from there, and deletes those that it will not need again.
  struct Step {
    std::uint64_t from;
    Value value;
    Step* before;
  };
  struct Kind {
    std::uint64_t key;
    Kind* next;
    std::atomic<std::uint64_t> limit{UINT64_MAX};
    std::atomic<Step*> steps{nullptr};
    std::atomic<std::size_t> count{0};  // of steps
  };

  Kind* find(std::uint64_t key) const;
  Kind& made(std::uint64_t key);
  Outcome outcome() const;
  static Value value_at(const Kind& found, std::uint64_t call);
  static void forget_steps(Kind& of, std::uint64_t confirmed);
  static std::size_t delete_all(Step* first);

  static constexpr unsigned kBucketBits = 6;
  std::atomic<Kind*>& bucket(std::uint64_t key);
  const std::atomic<Kind*>& bucket(std::uint64_t key) const;

  Gate& gate_;
  std::atomic<Outcome> ended_{Outcome::kKnown};
  std::atomic<std::uint64_t> reached_{0};
  std::uint64_t confirmed_ = 0;  // of the host
  std::array<std::atomic<Kind*>, 1U << kBucketBits> buckets_{};
};

}  // namespace thinwire::nccl::agree
