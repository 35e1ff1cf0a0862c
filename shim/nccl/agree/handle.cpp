#include "agree/handle.h"

#include <algorithm>

#include "agree/spare_bytes.h"

namespace thinwire::nccl::agree {

template <typename Work>
void Handle::post(Work work) {
  if (id_ == 0) return;
  Core* const core = core_.get();
  core_->loop().post([core, id = id_, work = std::move(work)] {
    if (Member* const member = core->member(id)) work(*member);
  });
}

Channel& Handle::pair(int rank, bool outgoing) {
  const std::lock_guard lock(mutex_);
  auto& found = pairs_[{rank, outgoing}];
  if (!found) found = std::make_unique<PairEnd>(*this, rank, outgoing);
  return *found;
}

void Handle::Collectives::offer(std::uint64_t key, Offer offer) {
  handle.post([=](Member& member) { member.offer(key, offer); });
}

void Handle::PairEnd::offer(std::uint64_t key, Offer offer) {
  handle.post([=, rank = rank, outgoing = outgoing](Member& member) {
    member.offer_to_pair(rank, outgoing, key, offer);
  });
}

void Handle::give(const Block& block, int to, std::uint64_t total,
                  std::span<const std::byte> bytes) {
  std::uint64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = given_.try_emplace({block, to}).first;
    offset = found->second;
    found->second += bytes.size();
    if (found->second >= total) given_.erase(found);
  }
  while (!bytes.empty()) {
    const ByteView piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    bytes = bytes.subspan(piece.size());
    auto packed = pack_part(Part{block, total, offset, piece});
    offset += piece.size();
    post([to, packed = std::move(packed)](Member& member) { member.give(to, packed); });
  }
}

void Handle::close() {
  post([](Member& member) { member.close(); });
}

void Handle::wait_for_goodbye() {
  const State now = state();
  const bool has_others = now == State::kReady || now == State::kBroken;
  if (has_others && core_->loop().lives()) shared_->wait_until_gone(kGoodbyeTime);
}

void Handle::abort() {
  shared_->gate.end(Outcome::kAborted);
  post([](Member& member) { member.abort(); });
}

void Handle::revoke() {
  shared_->gate.end(Outcome::kAborted);
  post([](Member& member) { member.revoke(); });
}

}  // namespace thinwire::nccl::agree
