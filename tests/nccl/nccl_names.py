"""The functions of NCCL by the version that first had them, of versions that were looked at."""

NEW_IN: dict[tuple[int, ...], frozenset[str]] = {
    (2, 18, 3): frozenset(
        [
            "ncclAllGather",
            "ncclAllReduce",
            "ncclBcast",
            "ncclBroadcast",
            "ncclCommAbort",
            "ncclCommCount",
            "ncclCommCuDevice",
            "ncclCommDestroy",
            "ncclCommFinalize",
            "ncclCommGetAsyncError",
            "ncclCommInitAll",
            "ncclCommInitRank",
            "ncclCommInitRankConfig",
            "ncclCommSplit",
            "ncclCommUserRank",
            "ncclGetErrorString",
            "ncclGetLastError",
            "ncclGetUniqueId",
            "ncclGetVersion",
            "ncclGroupEnd",
            "ncclGroupStart",
            "ncclRecv",
            "ncclRedOpCreatePreMulSum",
            "ncclRedOpDestroy",
            "ncclReduce",
            "ncclReduceScatter",
            "ncclSend",
        ]
    ),
    (2, 21, 5): frozenset(
        ["ncclCommDeregister", "ncclCommRegister", "ncclMemAlloc", "ncclMemFree"]
    ),
    (2, 26, 2): frozenset(
        ["ncclCommInitRankScalable", "ncclGroupSimulateEnd", "ncclResetDebugInit"]
    ),
    (2, 28, 9): frozenset(
        [
            "ncclAlltoAll",
            "ncclCommRevoke",
            "ncclCommShrink",
            "ncclCommWindowDeregister",
            "ncclCommWindowRegister",
            "ncclDevCommCreate",
            "ncclDevCommDestroy",
            "ncclGather",
            "ncclGinBarrierCreateRequirement",
            "ncclLLA2ACalcSlots",
            "ncclLLA2ACreateRequirement",
            "ncclLsaBarrierCreateRequirement",
            "ncclResetDebugInitInternal",
            "ncclScatter",
            "ncclTeamLsa",
            "ncclTeamRail",
            "ncclTeamRankToLsa",
            "ncclTeamRankToWorld",
            "ncclTeamWorld",
        ]
    ),
    (2, 30, 7): frozenset(
        [
            "ncclCommGetUniqueId",
            "ncclCommGrow",
            "ncclCommMemStats",
            "ncclCommQueryProperties",
            "ncclCommResume",
            "ncclCommSuspend",
            "ncclGetLsaDevicePointer",
            "ncclGetLsaMultimemDevicePointer",
            "ncclGetMultimemDevicePointer",
            "ncclGetPeerDevicePointer",
            "ncclGinInboxA2ACreateRequirement",
            "ncclGinOutboxCreateRequirement",
            "ncclParamBind",
            "ncclParamDumpAll",
            "ncclParamGet",
            "ncclParamGetAllParameterKeys",
            "ncclParamGetI16",
            "ncclParamGetI32",
            "ncclParamGetI64",
            "ncclParamGetI8",
            "ncclParamGetParameter",
            "ncclParamGetStr",
            "ncclParamGetU16",
            "ncclParamGetU32",
            "ncclParamGetU64",
            "ncclParamGetU8",
            "ncclPutSignal",
            "ncclSignal",
            "ncclWaitSignal",
            "ncclWinGetUserPtr",
        ]
    ),
    (2, 32, 3): frozenset(
        [
            "ncclAllGatherConfig",
            "ncclAllReduceConfig",
            "ncclAlltoAllConfig",
            "ncclBroadcastConfig",
            "ncclGatherConfig",
            "ncclGetCftDeviceLeInfo",
            "ncclGetMultimemDeviceLeInfo",
            "ncclGetPeerDeviceLeInfo",
            "ncclReduceConfig",
            "ncclReduceScatterConfig",
            "ncclScatterConfig",
            "ncclSetEncryption",
            "ncclTeamCft",
            "ncclTeamCftMultimem",
        ]
    ),
}


def names_up_to(version: tuple[int, ...]) -> frozenset[str]:
    return frozenset().union(*(names for since, names in NEW_IN.items() if since <= version))


def least(version: tuple[int, ...]) -> frozenset[str]:
    """What a library of this version has at least."""
    return names_up_to(version)


def most(version: tuple[int, ...]) -> frozenset[str]:
    """What it can have, as none was taken away so far: one that has more is to be looked at."""
    later = [since for since in NEW_IN if since >= version]
    return names_up_to(min(later, default=max(NEW_IN)))
