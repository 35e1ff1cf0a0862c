#include "coding/call.h"

#include "calls/pass.h"

namespace thinwire::nccl {

ncclResult_t pass(const Call& call) {
  switch (call.operation) {
    case kAllReduce:
      return THINWIRE_PASS(AllReduce, call.send, call.receive, call.elements, call.type, call.op,
                           call.comm, call.stream);
    case kReduce:
      return THINWIRE_PASS(Reduce, call.send, call.receive, call.elements, call.type, call.op,
                           call.peer, call.comm, call.stream);
    case kReduceScatter:
      return THINWIRE_PASS(ReduceScatter, call.send, call.receive, call.elements, call.type,
                           call.op, call.comm, call.stream);
    case kAllGather:
      return THINWIRE_PASS(AllGather, call.send, call.receive, call.elements, call.type, call.comm,
                           call.stream);
    case kBroadcast:
      return THINWIRE_PASS(Broadcast, call.send, call.receive, call.elements, call.type, call.peer,
                           call.comm, call.stream);
    case kSend:
      return THINWIRE_PASS(Send, call.send, call.elements, call.type, call.peer, call.comm,
                           call.stream);
    default:
      return THINWIRE_PASS(Recv, call.receive, call.elements, call.type, call.peer, call.comm,
                           call.stream);
  }
}

}  // namespace thinwire::nccl
