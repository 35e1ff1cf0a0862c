#include "agree/handshake.h"

namespace thinwire::nccl::agree {
namespace {

// The bytes that proofs and keys are made of: the greeting as it travels, and the other side's
// nonce.
Bytes said_by_both(const Hello& hello, const Nonce& answer) {
  Bytes said = pack(hello);
  said.insert(said.end(), answer.begin(), answer.end());
  return said;
}

}  // namespace

Handshake::Handshake(const Introduction& own) : introduction_(own) {
  const Head& head = own.head;
  hello_ = {head.version, name_of(head.secret), head.speaker,
            head.number,  std::nullopt,         random_nonce()};
  if (const auto& of = own.child_of) {
    hello_.child_of = ChildOf{name_of(of->parent), of->split, of->color};
  }
}

std::optional<Message> Handshake::first() const {
  if (!makes()) return std::nullopt;
  return hello_;
}

bool Handshake::take(const Message& message) {
  if (done_) return false;
  if (const auto* hello = std::get_if<Hello>(&message)) return take_hello(*hello);
  if (const auto* challenge = std::get_if<Challenge>(&message)) return take_challenge(*challenge);
  if (const auto* proven = std::get_if<Proven>(&message)) return take_proven(*proven);
  return false;
}

bool Handshake::take_hello(const Hello& hello) {
  if (makes() || !said_.empty()) return false;
  const auto found = find_(hello);
  if (!found) return false;
  introduction_ = *found;
  introduction_.head.version = hello.version;
  introduction_.head.speaker = hello.speaker;
  introduction_.head.number = hello.number;
  Challenge challenge{random_nonce(), {}};
  said_ = said_by_both(hello, challenge.nonce);
  challenge.proof = proof_of_other(introduction_.head.secret, said_);
  answer_ = challenge;
  return true;
}

bool Handshake::take_challenge(const Challenge& challenge) {
  if (!makes()) return false;
  said_ = said_by_both(hello_, challenge.nonce);
  const Secret& secret = introduction_.head.secret;
  if (!equal(proof_of_other(secret, said_), challenge.proof)) return false;
  answer_ = Proven{proof_of_maker(secret, said_)};
  finish();
  return true;
}

bool Handshake::take_proven(const Proven& proven) {
  if (makes() || said_.empty()) return false;
  if (!equal(proof_of_maker(introduction_.head.secret, said_), proven.proof)) return false;
  finish();
  return true;
}

void Handshake::finish() {
  keys_ = keys_of(introduction_.head.secret, said_);
  done_ = true;
}

}  // namespace thinwire::nccl::agree
