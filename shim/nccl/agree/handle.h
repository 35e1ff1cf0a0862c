// A communicator as host threads have it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "agree/agree.h"
#include "agree/core.h"

namespace thinwire::nccl::agree {

class Handle final : public Communicator {
 public:
  // `id`: of the member; 0: there is none, it is raw.
  Handle(std::shared_ptr<Core> core, std::uint64_t id, std::shared_ptr<Shared> shared)
      : core_(std::move(core)), id_(id), shared_(std::move(shared)), collectives_(*this) {}
  ~Handle() override { close(); }

  std::uint64_t id() const { return id_; }

  Membership membership() const override { return shared_->membership(); }
  State state() const override { return shared_->state(); }
  Outcome wait_until_known() const override {
    shared_->wait_until_known();
    if (shared_->gate.outcome() == Outcome::kAborted) return Outcome::kAborted;
    return shared_->is_unsure() ? Outcome::kBroken : Outcome::kKnown;
  }
  bool knows_siblings() const override { return shared_->knows_siblings(); }
  std::vector<std::uint32_t> nodes() const override { return shared_->nodes(); }
  Channel& collectives() override { return collectives_; }
  Channel& to(int rank) override { return pair(rank, true); }
  Channel& from(int rank) override { return pair(rank, false); }
  void give(const Block& block, int to, std::uint64_t total,
            std::span<const std::byte> bytes) override;
  Taken take(const Block& block, std::span<std::byte> to,
             std::chrono::milliseconds patience) override {
    return shared_->blocks.take(block, to, patience);
  }
  void close() override;
  void wait_for_goodbye() override;
  void abort() override;
  void revoke() override;

 private:
  struct Collectives final : Channel {
    explicit Collectives(Handle& of) : handle(of) {}
    Answer value(std::uint64_t call, std::uint64_t key) override {
      return handle.shared_->collectives.value(call, key);
    }
    void confirm(std::uint64_t call) override { handle.shared_->collectives.confirm(call); }
    void offer(std::uint64_t key, Offer offer) override;
    Handle& handle;
  };
  struct PairEnd final : Channel {
    PairEnd(Handle& of, int of_rank, bool out)
        : handle(of), ledger(of.shared_->pair(of_rank, out)), rank(of_rank), outgoing(out) {}
    Answer value(std::uint64_t call, std::uint64_t key) override { return ledger.value(call, key); }
    void confirm(std::uint64_t call) override { ledger.confirm(call); }
    void offer(std::uint64_t key, Offer offer) override;
    Handle& handle;
    Ledger& ledger;
    const int rank;
    const bool outgoing;
  };

  Channel& pair(int rank, bool outgoing);
  // Runs with the member on the helper's thread, if there still is one.
  template <typename Work>
  void post(Work work);

  const std::shared_ptr<Core> core_;
  const std::uint64_t id_;
  const std::shared_ptr<Shared> shared_;
  Collectives collectives_;

  std::mutex mutex_;  // of what follows; held for a look
  std::map<std::pair<int, bool>, std::unique_ptr<PairEnd>> pairs_;
  std::map<std::pair<Block, int>, std::uint64_t> given_;  // bytes of blocks that are not whole yet
};

}  // namespace thinwire::nccl::agree
