#include "agree/ledger.h"

#include <utility>

// The host says which call it has come to and then looks for a limit; the helper sets a limit and
// then looks where the host is. All four are sequentially consistent, so that at least one of them
// sees the other: a host that has passed without seeing the limit is seen, and the limit is moved.

namespace thinwire::nccl::agree {

Ledger::~Ledger() {
  for (const auto& first : buckets_) {
    for (const Kind* each = first.load(); each != nullptr;) {
      delete_all(each->steps.load());
      delete std::exchange(each, each->next);
    }
  }
}

Answer Ledger::value(std::uint64_t call, std::uint64_t key) {
  reached_.store(call);
  Kind* const found = find(key);
  if (found == nullptr) return {Outcome::kKnown, {0, kUndecided}};
  if (call >= found->limit.load()) [[unlikely]] {
    gate_.wait([&] { return call < found->limit.load() || outcome() != Outcome::kKnown; });
    if (call >= found->limit.load()) return {outcome(), {}};
  }
  const Value value = value_at(*found, call);
  forget_steps(*found, confirmed_);
  // Raw calls go on when a rank has gone: NCCL itself says what becomes of them.
  return {value.capacity == 0 ? Outcome::kKnown : outcome(), value};
}

Outcome Ledger::outcome() const {
  const Outcome of_all = gate_.outcome();
  return of_all != Outcome::kKnown ? of_all : ended_.load(std::memory_order_acquire);
}

void Ledger::end(Outcome how) {
  ended_.store(how, std::memory_order_release);
  gate_.notify();
}

std::uint64_t Ledger::freeze(std::uint64_t key, std::uint64_t window) {
  Kind& frozen = made(key);
  for (;;) {
    const std::uint64_t limit = reached_.load() + window;
    frozen.limit.store(limit);
    if (reached_.load() < limit) return limit;
    gate_.notify();  // a host may wait at a limit that does not hold
  }
}

void Ledger::commit(std::uint64_t key, std::uint64_t from, Value value) {
  Kind& changed = made(key);
  ++changed.count;
  changed.steps.store(new Step{from, value, changed.steps.load()}, std::memory_order_release);
  changed.limit.store(UINT64_MAX);
  gate_.notify();
}

void Ledger::release(std::uint64_t key) {
  made(key).limit.store(UINT64_MAX);
  gate_.notify();
}

Value Ledger::value_at(const Kind& found, std::uint64_t call) {
  const Step* step = found.steps.load(std::memory_order_acquire);
  while (step != nullptr && step->from > call) step = step->before;
  return step == nullptr ? Value{0, kUndecided} : step->value;
}

// Those before the one that holds where the host has come to.
void Ledger::forget_steps(Kind& of, std::uint64_t confirmed) {
  Step* step = of.steps.load(std::memory_order_acquire);
  while (step != nullptr && step->from > confirmed) step = step->before;
  if (step == nullptr || step->before == nullptr) return;
  of.count -= delete_all(std::exchange(step->before, nullptr));
}

std::size_t Ledger::delete_all(Step* first) {
  std::size_t count = 0;
  for (; first != nullptr; ++count) delete std::exchange(first, first->before);
  return count;
}

std::size_t Ledger::steps(std::uint64_t key) const {
  const Kind* const found = find(key);
  return found == nullptr ? 0 : found->count.load();
}

Ledger::Kind* Ledger::find(std::uint64_t key) const {
  Kind* each = bucket(key).load();
  while (each != nullptr && each->key != key) each = each->next;
  return each;
}

// The helper alone adds.
Ledger::Kind& Ledger::made(std::uint64_t key) {
  if (Kind* const found = find(key)) return *found;
  auto& first = bucket(key);
  Kind* const added = new Kind{key, first.load(), {UINT64_MAX}, {nullptr}};
  first.store(added);
  return *added;
}

std::atomic<Ledger::Kind*>& Ledger::bucket(std::uint64_t key) {
  return buckets_[key * 0x9E3779B97F4A7C15U >> (64 - kBucketBits)];
}
const std::atomic<Ledger::Kind*>& Ledger::bucket(std::uint64_t key) const {
  return buckets_[key * 0x9E3779B97F4A7C15U >> (64 - kBucketBits)];
}

}  // namespace thinwire::nccl::agree
