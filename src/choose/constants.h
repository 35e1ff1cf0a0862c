// The figures by which compressing begins, goes on, is given up and is tried again: one table for
// messages, collectives, NCCL's calls, steps of training and transfers of arrays.
//
// What only one learner measures has its figures where it is measured: the statistics of messages'
// steps (choose/message_rounds.cpp), odd steps (choose/changed_times.cpp), what connections deliver
// (choose/link.cpp, choose/large_interval.cpp).
#pragma once

#include <cstdint>

namespace thinwire::choose {

// The part of its time that compressing has to gain before it begins; to go on it must only not
// lose. Figures that differ by chance then do not move a kind back and forth.
inline constexpr std::uint64_t kGainToBegin = 20;
inline constexpr double kToBegin = 1 - 1.0 / kGainToBegin;

// If calls of one way take so many times as long as those of the other, no more of them are needed.
inline constexpr std::uint64_t kHopeless = 4;

// A prediction that has moved by this factor in favour of the other way is of another link.
inline constexpr double kShift = 1.5;

// Calls of each way in a timing round. Four are the fewest of which the longest can be left out:
// enough if each takes long, as a step of training does. Eight hold against chance in short
// ones.
inline constexpr std::uint32_t kTimedAlone = 8, kTimedLong = 4, kMostTimed = 1024;
// The first ones of each way, which may show that the rest is not worth its time. Two raw ones that
// something held up look as if compressing gained by far: kinds that are decided once take more,
// and the others' next round comes soon.
inline constexpr std::uint32_t kTimedFirst = 2, kTimedForGood = 4;
inline constexpr std::uint64_t kCallsAfterFew = 32;

// Attempts and timing rounds may cost one part of so many of the time between them. After
// the first finding, which a slow moment may have misled, the next one comes sooner.
inline constexpr std::uint64_t kShareOfTries = 200, kShareAfterFirst = 50;

// Calls from one timing round to the next: so many at least, twice as many each time that nothing
// has changed, up to so many doublings.
inline constexpr std::uint64_t kLeastBetween = 128;
inline constexpr std::uint32_t kMostDoublings = 6;

// A message is sought again at least once in so many: data that begins to shrink again is noticed
// after as many.
inline constexpr std::uint32_t kLongestSearch = 64;

}  // namespace thinwire::choose
