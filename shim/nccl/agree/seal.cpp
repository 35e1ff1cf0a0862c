#include "agree/seal.h"

#include <monocypher.h>
#include <poly1305.h>

namespace thinwire::nccl::agree {

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
