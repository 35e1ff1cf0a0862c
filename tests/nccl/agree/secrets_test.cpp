// Tests of the proofs that helpers show each other in place of a communicator's secret.
#include <gtest/gtest.h>

#include <monocypher.h>
#include <poly1305.h>

#include <random>
#include <string>
#include <vector>

#include "agree/handshake.h"
#include "agree/job.h"
#include "agree/secrets.h"

namespace {

using namespace job;

template <typename Bytes_>
std::string hex(const Bytes_& bytes) {
  std::string text;
  for (const auto each : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(each));
    text += two;
  }
  return text;
}

ByteView view(std::string_view text) { return std::as_bytes(std::span(text)); }

Secret counted_secret() {
  Secret made;
  for (std::size_t at = 0; at < made.size(); ++at) made[at] = static_cast<std::byte>(at);
  return made;
}

// ---- the library's, as their RFCs have them ----

TEST(Primitives, Blake2bIsThatOfRfc7693) {
  std::array<std::uint8_t, 64> made;
  crypto_blake2b(made.data(), made.size(), reinterpret_cast<const std::uint8_t*>("abc"), 3);
  EXPECT_EQ(hex(made),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

TEST(Primitives, Poly1305IsThatOfRfc8439) {
  const std::uint8_t key[32] = {0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52,
                                0xfe, 0x42, 0xd5, 0x06, 0xa8, 0x01, 0x03, 0x80, 0x8a, 0xfb, 0x0d,
                                0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf, 0x41, 0x49, 0xf5, 0x1b};
  const std::string_view text = "Cryptographic Forum Research Group";
  std::array<std::uint8_t, 16> made;
  crypto_poly1305(made.data(), reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                  key);
  EXPECT_EQ(hex(made), "a8061dc1305136c6c22b8baf0c0127a9");
  fast_poly1305(made.data(), reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), key);
  EXPECT_EQ(hex(made), "a8061dc1305136c6c22b8baf0c0127a9");
}

// Two libraries' answers, of all lengths around their blocks, of values that carry and at any
// address.
TEST(Primitives, TheFastPoly1305IsTheOther) {
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> bytes(100'000);
  for (const bool carries : {false, true}) {
    for (auto& each : bytes) each = carries ? 0xFF : static_cast<std::uint8_t>(random());
    std::uint8_t key[32];
    for (auto& each : key) each = carries ? 0xFF : static_cast<std::uint8_t>(random());
    const auto compare = [&](std::size_t from, std::size_t count) {
      std::array<std::uint8_t, 16> one, other;
      crypto_poly1305(one.data(), bytes.data() + from, count, key);
      fast_poly1305(other.data(), bytes.data() + from, count, key);
      EXPECT_EQ(hex(one), hex(other)) << count << " bytes from " << from;
    };
    for (std::size_t count = 0; count < 600; ++count) compare(count % 17, count);
    for (const std::size_t count : {4096, 65536, 99'000}) compare(3, count);
  }
}

TEST(Primitives, ChaCha20IsThatOfRfc8439) {
  const std::uint8_t zeros[32] = {};
  std::array<std::uint8_t, 32> made;
  crypto_chacha20_djb(made.data(), nullptr, made.size(), zeros, zeros, 0);
  EXPECT_EQ(hex(made), "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7");
}

// ---- what is made of them: answers of Python's hashlib ----

TEST(Secrets, AreMadeIntoWhatTheSpecificationSays) {
  const Secret secret = counted_secret();
  EXPECT_EQ(hex(name_of(secret)), "512b3e20baf7a63b83a9f26c4433b200");
  EXPECT_EQ(hex(derive(secret, 3, -7)), "ac28a64e6ab616174b1a25a32f7656d3");
  EXPECT_EQ(hex(proof_of_maker(secret, view("said"))), "b8ba117c7dc8b26a42221e9d48a7f604");
  EXPECT_EQ(hex(proof_of_other(secret, view("said"))), "81c20ab09e5b778028518a7d6685251b");
  const Keys keys = keys_of(secret, view("said"));
  EXPECT_EQ(hex(keys.of_maker), "c7a6ea032f7fe6091da9c902567f52a31535bc3e983be75451ef21e1e12723e7");
  EXPECT_EQ(hex(keys.of_other), "28b353df80605d42ea6052916f902a9b116caa112de11f3e45fa0e6753a6166e");
}

TEST(Seal, TagsAreThoseThatTheSpecificationSays) {
  Key key;
  for (std::size_t at = 0; at < key.size(); ++at) key[at] = static_cast<std::byte>(at);
  Seal seal(key);
  EXPECT_EQ(hex(seal.next(view("message"))), "955b53d4781f85034521f8e9dc94e35f");
  EXPECT_EQ(hex(seal.next(view("message"))), "f23649dcc291a8a457ca281bac53f424");
}

// A mix of SplitMix64's steps, each of which can be undone, is none.
std::uint64_t unmixed(std::uint64_t value) {
  value ^= value >> 31 ^ value >> 62;
  value *= 0x319642B2D24D8EC3U;  // undoes 0x94D049BB133111EB
  value ^= value >> 27 ^ value >> 54;
  value *= 0x96DE1B173F119089U;  // undoes 0xBF58476D1CE4E5B9
  return value ^ value >> 30 ^ value >> 60;
}

Secret what_a_mix_came_from(const Secret& child, std::uint64_t split, std::int32_t color) {
  std::uint64_t words[2];
  std::memcpy(words, child.data(), sizeof words);
  for (const std::uint64_t each :
       {std::uint64_t{static_cast<std::uint32_t>(color)} + 1, split + 1}) {
    words[0] -= words[1];
    words[1] = unmixed(words[1]) ^ words[0];
    words[0] = unmixed(words[0]) - each * 0x9E3779B97F4A7C15U;
  }
  Secret made;
  std::memcpy(made.data(), words, sizeof words);
  return made;
}

TEST(Secrets, OfAChildLeadToNoParents) {
  const Secret parent = random_secret();
  EXPECT_NE(what_a_mix_came_from(derive(parent, 3, 5), 3, 5), parent);
  EXPECT_NE(derive(parent, 3, 5), derive(parent, 5, 3));
  EXPECT_NE(derive(parent, 0, 0), name_of(parent));
}

// ---- the two sides of a connection ----

struct Sides {
  explicit Sides(const Secret& of_maker, const Secret& of_other, std::uint16_t version = kVersion)
      : maker({{version, of_maker, 2, 4}, std::nullopt}), other([=](const Hello& hello) {
          return hello.name == name_of(of_other)
                     ? std::optional(Introduction{{kVersion, of_other, 0, 0}, std::nullopt})
                     : std::nullopt;
        }) {}
  Handshake maker, other;
};

TEST(Handshakes, GiveBothSidesTheSameKeys) {
  const Secret secret = random_secret();
  Sides sides(secret, secret);
  EXPECT_FALSE(sides.other.first());
  ASSERT_TRUE(sides.other.take(*sides.maker.first()));
  ASSERT_TRUE(sides.maker.take(*sides.other.answer()));
  EXPECT_TRUE(sides.maker.is_done());
  EXPECT_FALSE(sides.other.is_done());
  ASSERT_TRUE(sides.other.take(*sides.maker.answer()));
  ASSERT_TRUE(sides.other.is_done());
  EXPECT_EQ(sides.maker.key_out(), sides.other.key_in());
  EXPECT_EQ(sides.maker.key_in(), sides.other.key_out());
  EXPECT_NE(sides.maker.key_in(), sides.maker.key_out());
  EXPECT_EQ(sides.other.introduction().head.secret, secret);
  EXPECT_EQ(sides.other.introduction().head.speaker, 2);
  EXPECT_EQ(sides.other.introduction().head.number, 4);
  // Nothing more of the kind.
  EXPECT_FALSE(sides.other.take(*sides.maker.first()));
}

TEST(Handshakes, NeverSayTheSecret) {
  const Secret secret = random_secret();
  Sides sides(secret, secret);
  Bytes said = pack(*sides.maker.first());
  const auto hear = [&](const Message& message) {
    const Bytes more = pack(message);
    said.insert(said.end(), more.begin(), more.end());
    return message;
  };
  ASSERT_TRUE(sides.other.take(*sides.maker.first()));
  ASSERT_TRUE(sides.maker.take(hear(*sides.other.answer())));
  ASSERT_TRUE(sides.other.take(hear(*sides.maker.answer())));
  EXPECT_TRUE(std::ranges::search(said, secret).empty());
}

TEST(Handshakes, EndWithWhoeverDoesNotKnowTheSecret) {
  const Secret secret = random_secret(), guessed = random_secret();
  {
    Sides sides(guessed, secret);
    EXPECT_FALSE(sides.other.take(*sides.maker.first())) << "a name that nobody knows";
  }
  Sides sides(secret, secret);
  Hello hello = std::get<Hello>(*sides.maker.first());
  ASSERT_TRUE(sides.other.take(hello));
  Challenge challenge = std::get<Challenge>(*sides.other.answer());
  // The proof of the side that was connected to is none of the side that connected.
  EXPECT_FALSE(sides.other.take(Proven{challenge.proof}));
  EXPECT_FALSE(sides.other.take(Proven{}));
  challenge.nonce[5] ^= std::byte{1};
  EXPECT_FALSE(sides.maker.take(challenge));
  EXPECT_FALSE(sides.maker.is_done() || sides.other.is_done());
}

TEST(Handshakes, AreGoodForOneConnection) {
  const Secret secret = random_secret();
  Sides first(secret, secret), second(secret, secret);
  ASSERT_TRUE(first.other.take(*first.maker.first()));
  const Message challenge = *first.other.answer();
  ASSERT_TRUE(first.maker.take(challenge));
  const Message proven = *first.maker.answer();
  // A proof made for one connection proves nothing on another.
  ASSERT_TRUE(second.other.take(*first.maker.first()));
  EXPECT_FALSE(second.other.take(proven));
  EXPECT_FALSE(second.maker.take(challenge));
}

// Whoever changes who speaks, to whom or in which version is no rank.
TEST(Handshakes, CoverAllThatTheyBeginWith) {
  const Secret secret = random_secret();
  for (int what = 0; what < 4; ++what) {
    Sides sides(secret, secret);
    Hello hello = std::get<Hello>(*sides.maker.first());
    if (what == 0) hello.version = 77;
    if (what == 1) hello.speaker = 3;
    if (what == 2) hello.number = 5;
    if (what == 3) hello.child_of = ChildOf{};
    ASSERT_TRUE(sides.other.take(hello));
    EXPECT_FALSE(sides.maker.take(*sides.other.answer())) << what;
  }
}

TEST(Handshakes, OfAPartNameTheParent) {
  const Secret parent = random_secret(), part = derive(parent, 1, 2);
  const Handshake maker({{kVersion, part, 0, 2}, Lineage{parent, 1, 2}});
  const Hello hello = std::get<Hello>(*maker.first());
  ASSERT_TRUE(hello.child_of);
  EXPECT_EQ(hello.child_of->parent, name_of(parent));
  EXPECT_EQ(hello.name, name_of(part));
}

TEST(Seal, TakesNothingThatIsDamagedRepeatedOrOutOfOrder) {
  const Key key{std::byte{3}};
  Bytes message = pack(Took{7});
  Seal out(key);
  const Tag first = out.next(message), second = out.next(message);
  EXPECT_NE(first, second);
  EXPECT_TRUE(Seal(key).fits(message, first));
  EXPECT_FALSE(Seal(key).fits(message, second)) << "out of order";
  EXPECT_FALSE(Seal(Key{}).fits(message, first)) << "another connection's";
  {
    Seal in(key);
    EXPECT_TRUE(in.fits(message, first));
    EXPECT_FALSE(in.fits(message, first)) << "repeated";
  }
  for (std::byte& each : message) {
    each ^= std::byte{4};
    EXPECT_FALSE(Seal(key).fits(message, first));
    each ^= std::byte{4};
  }
}

}  // namespace
