// Times, counts and lengths, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace thinwire::nccl::agree {

using namespace std::chrono_literals;

// The version of all that travels: what a connection begins with and `decision` keep their form for
// ever, the rest may change with it.
constexpr std::uint16_t kVersion = 8;

// How far a host may run on while a kind changes. A change takes a millisecond or some, and a host
// 20 microseconds a call or more: few wait, and a change comes within a training step or two.
constexpr std::uint64_t kWindow = 64;
// The same while blocks do not fit: each more call would be spilled, which takes longer than the
// millisecond that a host waits.
constexpr std::uint64_t kUrgentWindow = 1;

// Children of a rank in the tree: 4,096 ranks are 6 levels, and a rank sends a block 4 times.
constexpr int kFanOut = 4;

// Ranks of a communicator, the first ones, in whose processes its parts may meet: one may be lost.
constexpr int kMeetingPlaces = 4;

// A greeting is on its way when the connection is made; 5 s are several lost packets.
constexpr auto kGreetingTime = 5s;
// The longest greeting is a `register` with 1024 bytes of terms: 1081 bytes.
constexpr std::size_t kMostGreeting = 2048;
// Connections that have not greeted, or fewer where the program may have few descriptors: above
// that the oldest is closed, so that strangers take no more of them; a rank comes again.
constexpr std::size_t kMostStrangers = 256;
// The `table` of 262,000 ranks, and their addresses.
constexpr std::size_t kMostMessage = 8U << 20;
constexpr std::size_t kMostText = 1024;
// Bytes of a block that travel at a time, so that what is urgent waits for a quarter of a
// millisecond at 10 Gbit/s.
constexpr std::size_t kPieceBytes = 256U << 10;

// A rank that cannot reach another at once tries again: that one may be late to listen, or busy.
constexpr auto kFirstRetry = 20ms;
constexpr auto kMostRetry = 1s;
// A registrar is there when its id is; 30 s are a process that gets no processor.
constexpr auto kRegistrarTime = 30s;
// How much longer than registration and connections may take a rank waits for the registrar's word.
constexpr auto kPatience = 20s;
// A rank that has registered and whose connection ends comes again in 20 ms, and each second then.
constexpr auto kComesAgain = 3s;

// Words of a registrar's that are under way to ranks which keep no connection to it, and how long
// one waits for a descriptor.
constexpr std::size_t kMostCalls = 16;
constexpr auto kCallTime = 10s;
// How long after all ranks have come one may say that they cannot be connected, and all be told.
constexpr auto kFormingTime = 60s;

// A helper opens a port at once, unless its thread gets no processor.
constexpr auto kStampTime = 5s;

// A connection that is answered at all is made in a round trip or two, or after a lost packet or
// two.
constexpr auto kConnectTime = 5s;
// New connections of pairs that a process makes at a time, a round trip or two each: with more of
// many processes on few processors none is answered in time.
constexpr std::size_t kMostOpenings = 4;
// A pair that could not connect is tried again: a limit may be raised, a firewall opened.
constexpr auto kPairRetry = 60s;

// After which time nothing is said on a connection of a pair's: one that agrees says something each
// millisecond.
constexpr auto kUnused = 300ms;

// So often in a row nobody listens on the port: the process has ended, if the kernel of this
// machine says so. A host that refuses may be a firewall's word while its rules are loaded, or a
// gateway's that does not know the host for a moment: it counts after a time, too, well beyond
// those.
constexpr int kRefusals = 3;
constexpr auto kRefusedTime = 10s;
// A process that takes a connection and ends it without a word does not know the communicator any
// more, or has too many strangers; or somebody before it does that. It counts after the same time,
// and half a minute of asking to be connected.
constexpr int kUnanswered = 9;
constexpr int kUnansweredWishes = 35;

// How long the end of a communicator waits until the other ranks have what this one said last: a
// round trip, mostly. The process may end right after it, without a word.
constexpr auto kGoodbyeTime = 200ms;

// At the end of a process: for bytes that are still to be sent, and for other ranks, whose last
// calls on its communicators may be under way.
constexpr auto kExitTime = 2s;
// The same where it has ended all its communicators in order.
constexpr auto kLastCallsTime = 10s;

// A machine that has gone without a word is found out within half a minute.
constexpr int kKeepIdleSeconds = 10;
constexpr int kKeepIntervalSeconds = 5;
constexpr int kKeepProbes = 3;

// Kinds of calls that others may speak of, some 400 bytes each: 100 MB of a communicator. A
// program has some for each operation, type, root and power of two of the size.
constexpr std::size_t kMostKinds = 262'144;
// Kinds of one direction of a pair: a few for each power of two.
constexpr std::size_t kMostKindsOfPair = 4096;
// Values of one kind that a host has not come to yet.
constexpr std::size_t kMostSteps = 4096;

// Ids that were made and whose ranks have not come, or were refused: 48 bytes and a text each. A
// program that makes more forgets the oldest. As many communicators that have ended, whose parts
// may still be made.
constexpr std::size_t kMostMeetings = 4096;

}  // namespace thinwire::nccl::agree
