// Messages between helpers, packed and parsed: spec/nccl-helpers.md. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agree/address.h"
#include "agree/agree.h"
#include "agree/secrets.h"

namespace thinwire::nccl::agree {

// Who greets whom. It travels in the connection's Hello, by the communicator's name; the Link has
// found the secret.
struct Head {
  std::uint16_t version = kVersion;
  Secret secret{};
  std::uint32_t speaker = 0;
  std::uint32_t number = 0;  // of a Register the communicator's ranks, else the rank spoken to
};

struct Lineage {
  Secret parent{};
  std::uint64_t split = 0;
  std::int32_t color = 0;
};

// The beginning of a connection.
struct Introduction {
  Head head;
  std::optional<Lineage> child_of;
};
// The same as it travels: without secrets.
struct ChildOf {
  Name parent{};
  std::uint64_t split = 0;
  std::int32_t color = 0;
};
struct Hello {
  std::uint16_t version = kVersion;
  Name name{};
  std::uint32_t speaker = 0;
  std::uint32_t number = 0;
  std::optional<ChildOf> child_of;
  Nonce nonce{};
};
struct Challenge {
  Nonce nonce{};
  Proof proof{};
};
struct Proven {
  Proof proof{};
};

struct Register {
  Head head;
  Address listens;
  std::optional<Lineage> child_of;  // as the head
  std::uint64_t host = 0;           // equal for ranks of one host
  std::uint64_t domain = 0;         // equal for ranks that NVLink joins; 0: it joins no hosts
  std::string terms;
};
struct Join {
  Head head;
};
struct Pair {
  Head head;
};
struct Decision {
  bool ready = false;
  std::string text;
};
struct Place {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  Address address;
};
struct Table {
  std::vector<Place> places;
};
struct Up {
  bool well = true;
  std::string text;
};
// The addresses and nodes of all ranks.
struct Ready {
  std::vector<Address> addresses;
  std::vector<std::uint32_t> nodes;
};
// Says to the registrar that the ranks cannot be connected.
struct Failed {
  Head head;
  std::string text;
};
struct Offered {
  std::uint64_t key = 0;
  Offer offer;
};
struct Ask {
  std::uint64_t key = 0;
  std::uint64_t round = 0;
  bool is_urgent = false;  // hosts stop at their next call of the kind
  bool looks = false;      // who can be heard: hosts stop nowhere
};
struct Limit {
  std::uint64_t key = 0;
  std::uint64_t round = 0;
  std::uint64_t limit = 0;
};
struct Commit {
  std::uint64_t key = 0;
  std::uint64_t round = 0;
  std::uint64_t from = 0;
  Value value;
};
// A part of a block. The bytes are those that were parsed, or that are to be packed: it does not
// own them.
struct Part {
  Block block;
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
  ByteView bytes;
};
struct Broken {
  std::string text;
};
// The same of the collectives alone: a rank has died.
struct Lost {
  std::string text;
};
// The speaker has no more to say of its own; and the answer, that it is told no more.
struct Leaving {};
struct Gone {};
// Some rank has left: no collective can be made any more.
struct Left {};
// How many messages of this session the speaker has taken.
struct Took {
  std::uint64_t count = 0;
};
// A session's next connection, or the wish for one.
struct Again {
  Head head;
  bool of_pair = false;
  bool makes = false;  // the speaker makes the session's connections
  std::uint64_t taken = 0;
};
// A part of a block for one rank, by way of the tree.
struct Carried {
  std::uint32_t to = 0;
  Part part;
};
// Why it is not known yet who has the library; nothing: the rank has been noted.
struct Waiting {
  std::string text;
};

// A rank's line for the part of a communicator that a split gives it, up the communicator's tree.
struct Enrol {
  std::uint64_t split = 0;
  std::int32_t color = 0;
  std::uint32_t from = 0;             // the rank of the communicator
  std::uint32_t rank = 0, ranks = 0;  // of the part
  std::uint64_t host = 0, domain = 0;
  bool failed = false;  // the part's ranks cannot be connected
  std::string text;     // why; else the terms
};
// The answer of a registrar to a rank that keeps no connection to it.
enum class Says : std::uint8_t { kRaw, kReady, kWaits };
// The same down the tree, with the part's ranks if these are ready.
struct Word {
  std::uint32_t to = 0;
  std::uint64_t split = 0;
  std::int32_t color = 0;
  Says says = Says::kRaw;
  std::string text;
  Table table;
};
// The same by a connection, on which nothing else is said.
struct Call {
  Head head;
  Says says = Says::kRaw;
  std::string text;
};

// The speaker would end the connection, which it does not use, and has taken so many messages.
struct Rest {
  std::uint64_t count = 0;
};

// Tells of a rank of the communicator whose ranks find siblings what else it is in, or that the
// last split has left it out. Goes up the tree.
struct Kin {
  std::uint32_t from = 0;      // the rank
  std::uint64_t tag = 0;       // of the other communicator, the same on all its ranks; 0: left out
  std::uint64_t split = 0;     // the same for what one split has made; 0: no split has
  std::uint64_t alike = 0;     // the same for what each process made as the same of its kind
  std::uint32_t rank = 0;      // in the other communicator
  std::uint32_t ranks = 0;     // of it
  std::uint64_t layout = 0;    // which of its ranks share nodes
  std::uint32_t siblings = 0;  // so many of its kind are; 0: as `split` has it, or all ranks
};
// Says that a rank has left a communicator that `Kin` told of.
struct NoKin {
  std::uint32_t from = 0;
  std::uint64_t tag = 0;
};
// Down the tree, to the first rank of that communicator: it has siblings, or none any more. And
// down that one's own tree, with its own tag.
struct Siblings {
  std::uint32_t to = 0;
  std::uint64_t tag = 0;
  bool known = false;
};
// Goes from the root of that communicator's tree to those who join siblings, `to` being 0, and back
// to it.
struct Joined {
  std::uint32_t to = 0;
  std::uint64_t tag = 0;
  std::variant<Offered, Ask, Limit, Commit> said;
};

// All messages, in the order of their kinds, from 1 on.
using Message =
    std::variant<Register, Join, Pair, Decision, Table, Up, Ready, Failed, Offered, Ask, Limit,
                 Commit, Part, Broken, Leaving, Gone, Left, Took, Again, Carried, Waiting, Enrol,
                 Word, Call, Hello, Challenge, Proven, Rest, Lost, Kin, NoKin, Siblings, Joined>;

// Packs a message, its length in front. `room`: an empty buffer that may be used for it.
Bytes pack(const Message& message, Bytes room = {});

// Parses what lies after the length; nothing if it is not as the format has it.
std::optional<Message> parse(ByteView bytes);

constexpr std::size_t kLengthBytes = 4;

}  // namespace thinwire::nccl::agree
