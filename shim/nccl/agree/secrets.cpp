#include "agree/secrets.h"

#include <monocypher.h>
#include <poly1305.h>
#include <sys/random.h>

#include <cerrno>
#include <random>

namespace thinwire::nccl::agree {
namespace {

const std::uint8_t* bytes_of(const std::byte* bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes);
}
std::uint8_t* bytes_of(std::byte* bytes) { return reinterpret_cast<std::uint8_t*>(bytes); }

template <typename Made>
Made random() {
  Made made{};
  std::size_t filled = 0;
  while (filled < made.size()) {
    const ssize_t got = getrandom(made.data() + filled, made.size() - filled, 0);
    if (got > 0) filled += static_cast<std::size_t>(got);
    if (got < 0 && errno != EINTR) break;
  }
  // Old kernels and some containers refuse that call; the processor or a device knows as well.
  if (filled < made.size()) {
    std::random_device device;
    for (; filled < made.size(); ++filled)
      made[filled] = static_cast<typename Made::value_type>(device());
  }
  return made;
}

// Keyed BLAKE2b. What it is for comes first, in 16 bytes, so that no two uses have the same input.
template <typename Made>
Made made_of(const Secret& secret, std::string_view use, ByteView bytes) {
  FieldWriter fields;
  fields.put(std::as_bytes(std::span(use))).put(bytes);
  Made made{};
  crypto_blake2b_keyed(bytes_of(made.data()), made.size(), bytes_of(secret.data()), secret.size(),
                       bytes_of(fields.bytes().data()), fields.bytes().size());
  return made;
}

}  // namespace

Secret random_secret() { return random<Secret>(); }
Nonce random_nonce() { return random<Nonce>(); }

Name name_of(const Secret& secret) { return made_of<Name>(secret, "thinwire name   ", {}); }

Secret derive(const Secret& parent, std::uint64_t split, std::int32_t color) {
  FieldWriter fields;
  fields.put(split).put(color);
  return made_of<Secret>(parent, "thinwire part   ", fields.bytes());
}

Proof proof_of_maker(const Secret& secret, ByteView said) {
  return made_of<Proof>(secret, "thinwire maker  ", said);
}

Proof proof_of_other(const Secret& secret, ByteView said) {
  return made_of<Proof>(secret, "thinwire other  ", said);
}

Keys keys_of(const Secret& secret, ByteView said) {
  const auto both = made_of<std::array<std::byte, 64>>(secret, "thinwire keys   ", said);
  Keys keys;
  std::copy_n(both.begin(), 32, keys.of_maker.begin());
  std::copy_n(both.begin() + 32, 32, keys.of_other.begin());
  return keys;
}

bool equal(const Proof& one, const Proof& other) {
  return crypto_verify16(bytes_of(one.data()), bytes_of(other.data())) == 0;
}

// Poly1305 takes a key for one message alone: 32 bytes of ChaCha20, of the message's number.
Tag Seal::next(ByteView message) {
  const std::uint64_t number = number_++;
  std::uint8_t nonce[8], once[32];
  std::memcpy(nonce, &number, sizeof nonce);
  crypto_chacha20_djb(once, nullptr, sizeof once,
                      reinterpret_cast<const std::uint8_t*>(key_.data()), nonce, 0);
  Tag tag;
  fast_poly1305(reinterpret_cast<std::uint8_t*>(tag.data()),
                reinterpret_cast<const std::uint8_t*>(message.data()), message.size(), once);
  crypto_wipe(once, sizeof once);
  return tag;
}

}  // namespace thinwire::nccl::agree
