// The fields of messages by their kinds, as they are packed and parsed. A message whose fields are
// not sound, of which a take() is false, is none.
#pragma once

#include "agree/fields.h"
#include "agree/messages.h"

namespace thinwire::nccl::agree {

constexpr std::uint32_t kMostRank = 0x7FFFFFFF;  // NCCL's ranks are ints

// A flag is 0 or 1.
inline bool take_flag(FieldReader& from, bool& flag) {
  const auto value = from.take<std::uint8_t>();
  flag = value != 0;
  return value <= 1;
}

// Rounds and blocks of a session, and its connections' own count (round_fields.cpp).
void put(FieldWriter& to, const Offered& it);
bool take(FieldReader& from, Offered& it);
void put(FieldWriter& to, const Ask& it);
bool take(FieldReader& from, Ask& it);
void put(FieldWriter& to, const Limit& it);
bool take(FieldReader& from, Limit& it);
void put(FieldWriter& to, const Commit& it);
bool take(FieldReader& from, Commit& it);
void put(FieldWriter& to, const Part& it);
bool take(FieldReader& from, Part& it);
void put(FieldWriter& to, const Broken& it);
bool take(FieldReader& from, Broken& it);
void put(FieldWriter& to, const Lost& it);
bool take(FieldReader& from, Lost& it);
void put(FieldWriter& to, const Took& it);
bool take(FieldReader& from, Took& it);
void put(FieldWriter& to, const Rest& it);
bool take(FieldReader& from, Rest& it);
void put(FieldWriter& to, const Again& it);
bool take(FieldReader& from, Again& it);
void put(FieldWriter& to, const Carried& it);
bool take(FieldReader& from, Carried& it);
void put(FieldWriter& to, const Waiting& it);
bool take(FieldReader& from, Waiting& it);

// Children of a communicator and their siblings (kin_fields.cpp).
void put(FieldWriter& to, const Enrol& it);
bool take(FieldReader& from, Enrol& it);
void put(FieldWriter& to, const Word& it);
bool take(FieldReader& from, Word& it);
void put(FieldWriter& to, const Call& it);
bool take(FieldReader& from, Call& it);
void put(FieldWriter& to, const Kin& it);
bool take(FieldReader& from, Kin& it);
void put(FieldWriter& to, const NoKin& it);
bool take(FieldReader& from, NoKin& it);
void put(FieldWriter& to, const Siblings& it);
bool take(FieldReader& from, Siblings& it);
void put(FieldWriter& to, const Joined& it);
bool take(FieldReader& from, Joined& it);

// The table in words to children (messages.cpp).
void put(FieldWriter& to, const Table& it);
bool take(FieldReader& from, Table& it);

}  // namespace thinwire::nccl::agree
