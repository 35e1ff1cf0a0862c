// Two worlds: the one that was started, and the one that it spawned.
#pragma once

#include "conformance.h"

enum { kChildren = 2 };

extern int is_parent;
extern MPI_Comm between;

typedef void (*Talk)(void);
enum { kExchanges, kWildcards, kPersistent, kMerged, kConnected, kJoined, kTalkCount };
extern const Talk kTalks[kTalkCount];
