// The rows of all settings, in the order of docs/reference/settings.md: `tools/settings_page` makes
// the tables there from them.
#include <algorithm>
#include <array>

#include "base/settings.h"

namespace thinwire {
namespace {

using enum SettingKind;

constexpr const char* kCollectives =
    "on off 0 bcast reduce allreduce reduce-scatter reduce-scatter-block allgather allgatherv "
    "gather gatherv scatter scatterv alltoall alltoallv alltoallw";
constexpr const char* kAlgorithms =
    "ring recursive-doubling direct chain binomial pairwise bruck rank-order exact once per-hop "
    "two-level";
constexpr const char* kForeignCodecs =
    "nvcomp-ans nvcomp-bitcomp nvcomp-cascaded nvcomp-lz4 nvcomp-bitcomp-lossy";

constexpr Setting kSettings[] = {
    {"THINWIRE_CODEC", kCodec, "auto", "the codec of messages and collectives"},
    {"THINWIRE_THRESHOLD", kSize, "64KiB", "messages and collectives of fewer bytes go raw"},
    {"THINWIRE_POLICY", kPolicy, "none", "a file of rules that name codecs, before THINWIRE_CODEC"},
    {"THINWIRE_DECODE", kWords, "the project's own codecs, and THINWIRE_CODEC's",
     "codecs of other projects whose frames this process decodes", kForeignCodecs},
    {"THINWIRE_INTEGERS", kWords, "decline",
     "whether lossy codecs decline fp64 data that looks like small integers, or encode it",
     "decline code"},
    {"THINWIRE_FILL_VALUES", kWords, "decline",
     "whether codecs without a bound on each value decline arrays with a few values far above all",
     "decline code"},
    {"THINWIRE_LINK", kRate, "not stated",
     "the network's rate, used until messages have measured it; else what the machine reports"},
    {"THINWIRE_FORCE", kSwitch, "0", "1: compress whatever it costs, as benches and tests do"},
    {"THINWIRE_SAME_NODE", kSwitch, "0", "1: also compress between ranks of one node"},
    {"THINWIRE_REFERENCES", kSize, "0",
     "most memory in which a communicator of NCCL keeps results of gathers and broadcasts, to code "
     "the next ones as differences"},
    {"THINWIRE_CONNECTIONS", kSize, "16",
     "the most ranks that compressed sums may make NCCL connect to, on each communicator; sums "
     "that "
     "need more stay raw"},
    {"THINWIRE_GRAPHS", kSwitch, "0",
     "1: calls of NCCL in CUDA graphs are compressed under every codec, in slots that keep their "
     "size; "
     "by default under codecs of fixed size alone"},
    {"THINWIRE_COLLECTIVES", kWords, "on", "which collectives may be compressed as a whole",
     kCollectives},
    {"THINWIRE_ALGORITHM", kWords, "planned",
     "for experiments: the algorithm of collectives, where they encode, or both", kAlgorithms},
    {"THINWIRE_BCAST_ROOT", kWords, "keep",
     "whether under a lossy codec the root of MPI_Bcast keeps its values or gets those of the "
     "others",
     "keep decoded"},
    {"THINWIRE_REPORT", kReport, "0",
     "a report of what was compressed, at the end: 1 for standard error, or a file for JSON"},
    {"THINWIRE_TRACE", kPath, "none",
     "what was sent to whom, over time: each rank writes this path with .rankN after it"},
    {"THINWIRE_METRICS", kPath, "none",
     "the same sums for Prometheus: each rank writes this path with .rankN.prom after it every "
     "five seconds"},
    {"THINWIRE_CAPTURE", kPath, "none", "a folder for a sample of what is sent, in files"},
    {"THINWIRE_CAPTURE_MOST", kSize, "1GiB", "most bytes of that sample, of all ranks of a node"},
    {"THINWIRE_CONFIG", kPath, "none",
     "a file of settings, NAME=value lines, for those that the environment leaves out"},
    {"THINWIRE_LOG", kLevel, "warning", "what is logged on standard error"},
    {"THINWIRE_POOL", kSize, "2GiB",
     "most bytes of idle scratch memory that are kept, of each kind"},
    {"THINWIRE_GPU_AWARE", kSwitch, "as the MPI says", "whether the MPI itself takes GPU pointers"},
    {"THINWIRE_GPU_WIRE", kWords, "auto",
     "memory from which such an MPI sends frames: auto is device inside a node, else pinned",
     "auto device pinned"},
    {"THINWIRE_DISABLE", kSwitch, "0", "1: the MPI runs as without Thinwire", "", "1"},
    {"THINWIRE_NVCOMP", kPath, "found by the loader, or beside the package",
     "libnvcomp.so.6 of NVIDIA's nvCOMP"},
    {"THINWIRE_LIBRARY_DIR", kPath, "that of the package", "where Python finds the libraries"},

    {"THINWIRE_BENCH_PROGRAMS", kOfTools, "", "where `thinwire bench` finds its programs"},
    {"THINWIRE_BUILD_DIR", kOfTools, "", "the build that is tested"},
    {"THINWIRE_DATA", kOfTools, "", "data of real programs"},
    {"THINWIRE_GPU_PROGRAMS", kOfTools, "", "the GPU tests' programs"},
    {"THINWIRE_MPIS", kOfTools, "", "MPIs besides the system's"},
    {"THINWIRE_NCCL", kOfTools, "", "libnccl.so.2 of the GPU tests"},
    {"THINWIRE_PREBUILT", kOfTools, "", "`tools/test_gpu` builds nothing"},
    {"THINWIRE_WAVE", kOfTools, "", "the program of the demo's tests"},
    {"THINWIRE_WHEELS", kOfTools, "", "wheels for a machine without a network"},
};

}  // namespace

std::span<const Setting> all_settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  const auto found = std::ranges::find(
      kSettings, name, [](const Setting& row) { return std::string_view(row.name); });
  return found == std::end(kSettings) ? nullptr : found;
}

const char* kind_text(SettingKind kind) {
  constexpr std::array<const char*, 10> kTexts = {"codec", "size",   "rate", "switch", "level",
                                                  "words", "report", "path", "policy", "of tools"};
  return kTexts[static_cast<std::size_t>(kind)];
}

}  // namespace thinwire
