// The numbers of a communicator's calls: by them ranks agree which calls are coded.
#include "run/compressor.h"

namespace thinwire::nccl {

Track& Compressor::track_of(const Call& call) {
  if (call.is_of_all_pairs()) connected_.note_messages_with_all();
  if (!call.is_message()) return collectives_;
  const bool outgoing = call.operation == kSend;
  const auto found = messages_.find({call.peer, outgoing});
  if (found != messages_.end()) return found->second;
  connected_.note_message(call.peer, outgoing);
  agree::Channel& channel = outgoing ? agreed_->to(call.peer) : agreed_->from(call.peer);
  return messages_.try_emplace({call.peer, outgoing}, channel).first->second;
}

CallNumber Compressor::number_of(const Call& call) {
  Track& track = track_of(call);
  return {this, &track, track.next()};
}

void Compressor::confirm(const CallNumber& made) { made.track->confirm(); }

}  // namespace thinwire::nccl
