// helper: what another helper of an NCCL job may send, a stranger included; and stamp: what another
// process may hand over as a unique id.
#include <algorithm>

#include "agree/blocks.h"
#include "agree/handshake.h"
#include "agree/outbox.h"
#include "agree/round.h"
#include "agree/terms.h"
#include "agree/unique_id.h"
#include "fuzz/all_targets.h"

namespace thinwire::fuzz {
namespace {

using namespace nccl::agree;

constexpr std::size_t kFrontBytes = kLengthBytes;

nccl::agree::ByteView behind_length(const nccl::agree::Bytes& packed) {
  return nccl::agree::ByteView(packed).subspan(kFrontBytes);
}

// Takes what was parsed as a rank with two children does.
struct Rank {
  Gate gate;
  Ledger ledger{gate};
  Blocks blocks{gate};
  Rounds rounds{ledger};
  std::size_t said = 0;
  static constexpr std::uint64_t kMessages = 5;
  Outbox outbox;
  std::uint64_t took_before = 0;

  Rank() {
    outbox.keep();
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      outbox.put(std::make_shared<const nccl::agree::Bytes>(8));
      outbox.next();
      outbox.written();
    }
    const auto say = [this](const Message& message) { said += pack(message).size(); };
    rounds.start({say, say, 2});
  }
  // Whatever is said to one that does not know the secret, neither side believes it.
  Handshake maker{Introduction{{kVersion, random_secret(), 1, 2}, std::nullopt}};
  Handshake other{[secret = random_secret()](const Hello&) {
    return Introduction{{kVersion, secret, 0, 0}, std::nullopt};
  }};

  void take(const Message& message) {
    for (Handshake* const each : {&maker, &other}) {
      static_cast<void>(each->take(message));
      static_cast<void>(each->answer());
      THINWIRE_FUZZ_CHECK(!each->is_done());
    }
    if (const auto* offered = std::get_if<Offered>(&message)) rounds.take(1, *offered);
    if (const auto* ask = std::get_if<Ask>(&message)) rounds.take(*ask);
    if (const auto* limit = std::get_if<Limit>(&message)) rounds.take(0, *limit);
    if (const auto* commit = std::get_if<Commit>(&message)) {
      const std::uint64_t before = ledger.waits(commit->from, commit->key);
      if (rounds.take(*commit)) {
        THINWIRE_FUZZ_CHECK(before);
        THINWIRE_FUZZ_CHECK(!ledger.waits(commit->from, commit->key));
        THINWIRE_FUZZ_CHECK(ledger.value(commit->from, commit->key).value == commit->value);
      }
    }
    if (const auto* part = std::get_if<Part>(&message)) {
      blocks.put(part->block, part->total, part->offset, part->bytes);
      std::byte to[64];
      THINWIRE_FUZZ_CHECK(blocks.take(part->block, to, {}).bytes <= sizeof to);
    }
    if (const auto* took = std::get_if<Took>(&message)) {
      // Messages that were taken are not said again, and no more can be taken than were said.
      const bool fits = outbox.rewind(took->count);
      THINWIRE_FUZZ_CHECK(fits == (took->count >= took_before && took->count <= kMessages));
      if (fits) took_before = took->count;
      std::uint64_t left = 0;
      for (; outbox.has_unsent(); ++left) {
        outbox.next();
        outbox.written();
      }
      if (fits) THINWIRE_FUZZ_CHECK(left == kMessages - took_before);
    }
    if (const auto* said_terms = std::get_if<Register>(&message)) {
      const std::string text = difference(0, "a=1\nb=2\n", 1, said_terms->terms);
      THINWIRE_FUZZ_CHECK(text.empty() == (said_terms->terms == "a=1\nb=2\n"));
    }
  }
};

}  // namespace

// Messages one after the other, as a connection has them.
void run_helper(const Target&, thinwire::ByteView input) {
  Rank rank;
  while (input.size() >= kFrontBytes) {
    const auto length =
        std::min<std::size_t>(load<std::uint32_t>(input.data()), input.size() - kFrontBytes);
    // Memory of its own, so that a read after its end is seen.
    const Bytes own(input.begin() + kFrontBytes,
                    input.begin() + static_cast<std::ptrdiff_t>(kFrontBytes + length));
    input = input.subspan(kFrontBytes + length);
    const auto message = parse(own);
    if (!message) continue;
    const auto packed = pack(*message);
    const auto again = parse(behind_length(packed));
    THINWIRE_FUZZ_CHECK(again.has_value());
    THINWIRE_FUZZ_CHECK(again->index() == message->index());
    THINWIRE_FUZZ_CHECK(pack(*again) == packed);
    rank.take(*message);
  }
}

std::vector<Bytes> helper_seeds(const Target&) {
  const Address address{4, 4000, 0, {std::byte{127}}};
  const Bytes bytes(40, std::byte{7});
  const Block block{3, true, 5, 6};
  Bytes all;
  std::vector<Bytes> seeds;
  for (const Message& message : std::initializer_list<Message>{
           Register{{}, address, std::nullopt, 7, 9, "a=1\nb=2\n"},
           Join{},
           Pair{},
           Decision{true, ""},
           Decision{false, "raw: 1 of 4 ranks lacks it"},
           Table{{{0, 0, address}, {1, 1, address}}},
           Up{true, ""},
           Up{false, "raw"},
           Ready{{address}, {0}},
           Ready{{address, address, address}, {0, 0, 1}},
           Failed{{}, "raw"},
           Offered{1, {.needed = 300, .dtype = 4}},
           Ask{1, 1},
           Ask{1, 1, false, true},
           Limit{1, 1, 600},
           Limit{1, 1, 500},
           Commit{1, 1, 600, {.capacity = 310, .dtype = 4}},
           Part{block, 60, 0, bytes},
           Part{block, 60, 40, std::span(bytes).first(20)},
           Broken{"rank 1 has ended"},
           Leaving{},
           Gone{},
           Left{},
           Took{3},
           Again{{}, false, true, 2},
           Again{{}, true, false, 0},
           Carried{2, {block, 60, 0, bytes}},
           Waiting{"1 of 4 ranks has not come yet"},
           Enrol{3, 1, 2, 0, 4, 7, 9, false, "codec=lorenzo\n"},
           Word{2, 3, 1, Says::kReady, "", {{{0, 0, address}, {1, 1, address}}}},
           Rest{4},
           Call{{}, Says::kWaits, "1 of 4 ranks has not come yet"},
           Hello{kVersion, {std::byte{1}}, 2, 4, std::nullopt, {std::byte{3}}},
           Hello{9, {std::byte{1}}, 2, 4, ChildOf{{std::byte{2}}, 3, -1}, {std::byte{3}}},
           Challenge{{std::byte{4}}, {std::byte{5}}},
           Proven{{std::byte{6}}},
           Kin{3, 17, 5, 6, 1, 2, 9},
           NoKin{3, 17},
           Siblings{2, 17, true},
           Joined{0, 17, Offered{kJoined, {300, 0}}}}) {
    seeds.push_back(pack(message));
    all.insert(all.end(), seeds.back().begin(), seeds.back().end());
  }
  seeds.push_back(all);
  return seeds;
}

void run_stamp(const Target&, thinwire::ByteView input) {
  std::array<std::byte, kIdBytes> id{};
  std::copy_n(input.begin(), std::min(input.size(), id.size()), id.begin());
  if (const auto room = room_for_stamp(id)) {
    const Stamp stamp{{std::byte{5}}, *room};
    write_stamp(id, stamp);
    const auto read = read_stamp(id);
    THINWIRE_FUZZ_CHECK(read && read->secret == stamp.secret && read->registrar == *room);
  } else if (const auto read = read_stamp(id)) {
    sockaddr_storage where{};
    THINWIRE_FUZZ_CHECK(to_sockaddr(read->registrar, where) <= sizeof where);
    THINWIRE_FUZZ_CHECK(!address_text(read->registrar).empty());
  }
}

std::vector<Bytes> stamp_seeds(const Target&) {
  std::array<std::byte, kIdBytes> id{};
  id[8] = std::byte{2};  // AF_INET
  std::vector<Bytes> seeds = {Bytes(id.begin(), id.end())};
  id[8] = std::byte{10};  // AF_INET6
  seeds.emplace_back(id.begin(), id.end());
  write_stamp(id, {{std::byte{9}}, {6, 4000, 2, {std::byte{0xFE}}}});
  seeds.emplace_back(id.begin(), id.end());
  return seeds;
}

}  // namespace thinwire::fuzz
