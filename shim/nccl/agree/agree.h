// Who of a communicator's ranks has the library, what they do alike from which call on, and what
// they carry for each other beside NCCL. One helper thread a process does it, over sockets.
//
// Host threads never wait for another host or a GPU in here: value() may wait for the round trips
// of helpers, take() only if a time is given. Everything else returns at once. A communicator's
// calls may come from any thread; value() and numbers of one Channel from one at a time, as NCCL
// has it. abort() may come at any time and releases whoever waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agree/limits.h"
#include "choose/round_times.h"

namespace thinwire::nccl::agree {

// ---- values ----

// A rank's measurements for a kind, or why it must stay raw here.
struct Offer {
  std::uint16_t needed = 0;  // the largest fraction of the raw bytes, in 1/512, rounded up
  std::uint16_t veto = 0;    // not 0: raw, for this reason; the caller's number

  // Whether it pays is measured in timing rounds (choose/timing_round.h), numbered from 1 on. The
  // one that this rank asks for, if there has been none of that number; 0: what fits is coded,
  // whatever it costs.
  std::uint16_t asks = 0;
  std::uint16_t span = 0;   // most calls of the kind in one group
  std::uint16_t timed = 0;  // the last one that this rank has come past, and what it saw there
  choose::RoundTimes times{};

  // The type that the sender of messages measured them as; the caller's number.
  std::uint8_t dtype = 0;
  bool operator==(const Offer&) const = default;
};

// The agreement of all ranks on calls of a kind.
struct Value {
  std::uint16_t capacity = 0;      // of a slot, in 1/512 of the raw bytes; 0: raw
  std::uint16_t reason = 0;        // of raw: a veto, or one of those below
  std::uint16_t timing_round = 0;  // the last one that has begun, of the calls from here on
  std::uint16_t decided = 0;       // the last one that was decided; less: it is under way
  std::uint16_t calls = 0;     // it times so many calls as `codes` says, and as many the other way
  bool codes = true;           // what fits is coded, but for calls that are timed the other way
  choose::RoundTimes times{};  // of the one that was decided
  std::uint8_t dtype = 0;  // what slots of messages hold, whatever either end calls them; of raw: 0
  bool operator==(const Value&) const = default;
};
constexpr std::uint16_t kUndecided = 0xFFFF;  // not every rank has offered yet
constexpr std::uint16_t kNotSmaller = 0xFFFE;
constexpr std::uint16_t kUnreachable = 0xFFFC;  // no connection between the ends of a pair

// The decision: a pure function of the value in force and of what all ranks offer.
Value decide(const Value& in_force, const Offer& of_all);
// Whether it may have decided that: values of other ranks come over a socket.
bool may_be_decided(const Value& value);

enum class Outcome {
  kKnown,
  kBroken,  // a rank has died, aborted or left: the call cannot be done coded (ncclRemoteError)
  kAborted  // abort() was called here
};

struct Answer {
  Outcome outcome = Outcome::kKnown;
  Value value;
};

// A kind of collectives whose key has this bit is decided on together by siblings: communicators
// whose ranks make the same calls beside each other (decision 0074). It is raw until they
// know each other.
constexpr std::uint64_t kJoined = std::uint64_t{1} << 63;
constexpr bool is_joined(std::uint64_t key) { return (key & kJoined) != 0; }

// The calls that are numbered together: a communicator's collectives, or what one rank sends to one
// other. A kind is a 64-bit key of the caller's: operation, octave of bytes, of collectives the
// dtype.
class Channel {
 public:
  virtual ~Channel() = default;

  // Returns what call `call` of kind `key` does: the same on all ranks (both ends), whenever they
  // ask. Numbers begin at 0, count alike on all ranks and are asked for in order; not every one has
  // to be. Costs less than a microsecond, or the round trip of helpers while a kind changes.
  virtual Answer value(std::uint64_t call, std::uint64_t key) = 0;
  // Numbers below it are not asked for again; those from it on may be, as of a group that was only
  // simulated.
  virtual void confirm(std::uint64_t call) = 0;

  // This rank's measure of a kind; a later one takes the place of the earlier. After all ranks have
  // offered, of a pair both ends, decide() is committed for calls that no rank has come to.
  virtual void offer(std::uint64_t key, Offer offer) = 0;
};

// ---- blocks that did not fit their slots ----

struct Block {
  int from = 0;          // the rank whose block it is
  bool of_pair = false;  // `call` counts the messages of a pair, not the collectives
  std::uint64_t call = 0;
  std::uint32_t number = 0;
  auto operator<=>(const Block&) const = default;
};
constexpr int kToAll = -1;

struct Taken {
  Outcome outcome = Outcome::kKnown;
  std::uint64_t bytes = 0;  // written; 0: nothing has come yet
  std::uint64_t left = 0;   // of the block after them, come or not; meaningless while nothing has
};

// ---- communicators ----

enum class State {
  kForming,  // calls are raw until it is known who has the library
  kReady,
  kRaw,     // for ever
  kBroken,  // was ready
};

struct Membership {
  State state = State::kForming;
  std::string text;  // as a report says it: "all 4 ranks have it", "raw: 1 of 4 ranks lacks it"
};

class Communicator {
 public:
  virtual ~Communicator() = default;  // of the last reference: as close()

  virtual Membership membership() const = 0;
  // The state alone: a single load, as every call needs it.
  virtual State state() const = 0;
  // Waits until it is known who has the library: for all ranks to register, or until one of these
  // times (Options) is over. All ranks find the state kRaw then, or none does. kBroken: it is kRaw
  // here, but this rank has not heard what others found, who may be ready. kAborted: abort() was
  // called here.
  virtual Outcome wait_until_known() const = 0;
  // Whether kinds with kJoined can be decided here.
  virtual bool knows_siblings() const = 0;
  // The node of each rank, the same on all of them: numbers from 0, in the order of the nodes'
  // first ranks. Empty until it is ready.
  virtual std::vector<std::uint32_t> nodes() const = 0;

  virtual Channel& collectives() = 0;
  // The channels to and from a rank; they live as long as the communicator. The first offer or
  // message opens a connection.
  virtual Channel& to(int rank) = 0;
  virtual Channel& from(int rank) = 0;

  // Carries the next bytes of a block of this rank, of `total` bytes in all, to a rank or to all
  // others. Copies them and returns.
  virtual void give(const Block& block, int to, std::uint64_t total,
                    std::span<const std::byte> bytes) = 0;
  // The next bytes of a block that another rank gives this one, as many as there are and fit. Waits
  // up to `patience` for the first.
  virtual Taken take(const Block& block, std::span<std::byte> to,
                     std::chrono::milliseconds patience = {}) = 0;

  // The rank's program has ended it in order: others are still served.
  virtual void close() = 0;
  // After close(), until the others know, for a fifth of a second at most; not while there is
  // nobody to be told.
  virtual void wait_for_goodbye() = 0;
  // Ends waiting at once, on all ranks: whoever waits on this communicator returns kAborted.
  virtual void abort() = 0;
  // As abort(), but it stays known until it is closed: parts of it can still be opened.
  virtual void revoke() = 0;
};

using CommunicatorRef = std::shared_ptr<Communicator>;

// Settings that must be equal on all ranks: names and values, as ("codec", "lorenzo").
using Terms = std::vector<std::pair<std::string, std::string>>;

// The properties by which a communicator's siblings are found.
struct Kindred {
  // How many ranks the job has, as far as this process knows. What has as many has no siblings: it
  // is where those of others find each other.
  std::uint32_t job = 0;
  std::uint64_t kind = 0;  // as the caller tells communicators of one size apart
  // So many of one kind beside each other are siblings, whichever ranks they have; 1: it has none;
  // 0: the parts of one split are, or those of one kind that all ranks of the job are in.
  std::uint32_t siblings = 0;
};

constexpr std::size_t kIdBytes = 128;  // of an ncclUniqueId
using IdView = std::span<const std::byte, kIdBytes>;

// ---- the helper ----

struct Options {
  // How long after the first rank's registration the others may take: nobody waits for them, and
  // one may load a checkpoint first.
  std::chrono::milliseconds registration{600'000};
  // How long the process in which they meet may give no answer.
  std::chrono::milliseconds registrar{kRegistrarTime};
  // After which it is said that some have not come.
  std::chrono::milliseconds late{10'000};
  // And then their connections, those of the tree together and of a pair.
  std::chrono::milliseconds connecting{10'000};
  // How long a connection that was lost is made again before its other side counts as gone: as long
  // as programs wait for a call of NCCL.
  std::chrono::milliseconds resuming{600'000};
  // The same if another machine refuses all connections.
  std::chrono::milliseconds refused{kRefusedTime};
  // How many connections of pairs it keeps that nothing is said on.
  std::size_t kept_pairs = 32;
  // A number that the processes of one host have in common.
  std::uint64_t host = 0;
  // The interfaces on which to listen, as NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY name them.
  std::string interfaces{}, family{};
  // Told once a process, on the helper's thread, why the first communicator here stays raw; it must
  // return at once.
  std::function<void(const std::string& text)> tell;
  // The same, of each kind of trouble once a process, with which calls go on.
  std::function<void(const std::string& text)> warn;
};

class Helper {
 public:
  explicit Helper(Options options);
  ~Helper();  // as leave(), and its thread has ended
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  // Writes into NCCL's id where the ranks that get it find this process. An id that has no room or
  // shows no address stays as it is: its communicators are raw. Returns whether it wrote.
  bool stamp(std::span<std::byte, kIdBytes> id);

  // Rank `rank` of `ranks` of the communicator that NCCL has made with this id. Never null.
  // `domain`: equal for ranks that NVLink joins; 0: it joins this rank with no other host's.
  CommunicatorRef open(IdView id, int rank, int ranks, const Terms& terms,
                       const Kindred& kindred = {}, std::uint64_t domain = 0);

  // The part of `parent` in which this rank is after the `split`-th split (0, 1, ...) with this
  // color. `ranks` and `rank` are the child's. They meet in the process of the parent's rank
  // `meets`, one of the first four, which need not be one of them.
  // `terms`: what the parent's ranks have not compared; all, where ranks may come that have no part
  // in it.
  CommunicatorRef open_child(const CommunicatorRef& parent, std::uint64_t split, int color,
                             int rank, int ranks, int meets = 0, const Terms& terms = {},
                             const Kindred& kindred = {}, std::uint64_t domain = 0);

  // The `split`-th split of `parent` has left this rank out.
  void leave_out(const CommunicatorRef& parent, std::uint64_t split);

  // As stamp(), for ranks that join those of open_child() with these numbers and `meets` of 0, by
  // open(). False as well while it is not known that all ranks of the parent have the library.
  bool stamp_part(std::span<std::byte, kIdBytes> id, const CommunicatorRef& parent,
                  std::uint64_t split, int color);

  // How many this process has with others now; 0 without a helper thread.
  std::size_t connections();

  // The process ends: sends what others still need, for a short while, and tells them.
  void leave();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Whether an id has been stamped, so that open() will look for other ranks.
bool is_stamped(IdView id);

// The process's one; a forked child gets its own. `options` count for the first call.
Helper& process_helper(const Options& options);

// leave(), if this process has one.
void leave_process_helper();

}  // namespace thinwire::nccl::agree
