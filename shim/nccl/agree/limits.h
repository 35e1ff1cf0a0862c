// Times, counts and lengths, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace thinwire::nccl::agree {

using namespace std::chrono_literals;

// The version of all messages. The beginning of a connection and `decision` keep their form for
// ever; the others may change with the version.
constexpr std::uint16_t kVersion = 12;

// Calls that a host may make while a kind changes. A change takes about a millisecond and a call 20
// microseconds or more, so few hosts wait, and a change comes within a training step or two.
constexpr std::uint64_t kWindow = 64;
// The same while blocks do not fit. Every call until the change would be spilled, which takes
// longer than the millisecond for which a host waits otherwise.
constexpr std::uint64_t kUrgentWindow = 1;

// Children of a rank in the tree. 4,096 ranks make 6 levels, and a rank sends a block 4 times.
constexpr int kFanOut = 4;

// The number of a communicator's first ranks in whose processes its parts may meet; one of them may
// be lost.
constexpr int kMeetingPlaces = 4;

// The longest wait for a greeting, which is sent when the connection is made; 5 s are several lost
// packets.
constexpr auto kGreetingTime = 5s;
// The longest greeting is a `register` with 1024 bytes of terms: 1081 bytes.
constexpr std::size_t kMostGreeting = 2048;
// Most connections that have not greeted yet; fewer if the program may have few descriptors. A
// further one ends the oldest that has named no communicator, so that strangers do not use up
// descriptors, and waits if all have; a rank whose connection is ended comes again.
constexpr std::size_t kMostStrangers = 256;
// The longest message: the `table` of 262,000 ranks and their addresses.
constexpr std::size_t kMostMessage = 8U << 20;
constexpr std::size_t kMostText = 1024;
// Bytes of a block that are sent at a time. An urgent message waits for these: a quarter of a
// millisecond at 10 Gbit/s.
constexpr std::size_t kPieceBytes = 256U << 10;

// The first and the longest wait before a rank tries again to reach another one, which may be late
// to listen, or busy.
constexpr auto kFirstRetry = 20ms;
constexpr auto kMostRetry = 1s;
// The longest time in which a rank tries to reach the registrar. A registrar listens before its id
// exists, so this covers a process that gets no processor.
constexpr auto kRegistrarTime = 30s;
// Time for which a rank waits for the registrar's word, beyond the time that registration and
// connections may take.
constexpr auto kPatience = 20s;
// Time for which a registered rank whose connection has ended tries to come again: after 20 ms,
// then each second.
constexpr auto kComesAgain = 3s;

// Calls that a registrar has under way to ranks without a connection to it, and the time for which
// one waits for a descriptor.
constexpr std::size_t kMostCalls = 16;
constexpr auto kCallTime = 10s;
// The time, after all ranks have come, in which one may report that they cannot be connected, so
// that all are told.
constexpr auto kFormingTime = 60s;

// The longest wait for the port of a helper, which opens it immediately if its thread gets a
// processor.
constexpr auto kStampTime = 5s;

// The longest wait for a connection. One that is answered at all is made in a round trip or two, or
// after a lost packet or two.
constexpr auto kConnectTime = 5s;
// Connections of pairs that a process makes at a time, a round trip or two each. If many processes
// on few processors make more, none is answered in time.
constexpr std::size_t kMostOpenings = 4;
// The wait before a pair that could not connect tries again: a limit may be raised, a firewall
// opened.
constexpr auto kPairRetry = 60s;

// The silence after which a pair's connection counts as unused: ranks that are agreeing send
// something each millisecond.
constexpr auto kUnused = 300ms;

// Refused connections in a row after which the process counts as ended, if the kernel of this
// machine refuses them. Another host's refusal may be that of a firewall whose rules are being
// loaded, or of a gateway that does not know the host for a moment, so it counts only after a time
// well beyond those.
constexpr int kRefusals = 3;
constexpr auto kRefusedTime = 10s;
// Connections in a row that the other process takes and ends without a word. It does not know the
// communicator any more, or has too many strangers, or a device between them ends the connections.
// They count after the same time, as do half a minute of requests to be connected.
constexpr int kUnanswered = 9;
constexpr int kUnansweredWishes = 35;

// The time for which the end of a communicator waits until the other ranks have this one's last
// messages: a round trip, mostly. The process may end right after it, without a word.
constexpr auto kGoodbyeTime = 200ms;

// The time for which the end of a process waits: for bytes that are still to be sent, and for other
// ranks, whose last calls on its communicators may be under way.
constexpr auto kExitTime = 2s;
// The same if it has ended all its communicators in order.
constexpr auto kLastCallsTime = 10s;

// TCP's keepalive, which finds out within half a minute that a machine has gone without a word.
constexpr int kKeepIdleSeconds = 10;
constexpr int kKeepIntervalSeconds = 5;
constexpr int kKeepProbes = 3;

// Most kinds of calls that other ranks may name, some 400 bytes each: 100 MB of a communicator. A
// program has some for each operation, type, root and power of two of the size.
constexpr std::size_t kMostKinds = 262'144;
// Most kinds of one direction of a pair; programs have a few for each power of two.
constexpr std::size_t kMostKindsOfPair = 4096;
// Most values of one kind that lie ahead of the host's calls.
constexpr std::size_t kMostSteps = 4096;

// Most ids whose ranks have not come, or were refused: 48 bytes and a text each. A program that
// makes more forgets the oldest. Also the most communicators that have ended and of which parts may
// still be made.
constexpr std::size_t kMostMeetings = 4096;

}  // namespace thinwire::nccl::agree
