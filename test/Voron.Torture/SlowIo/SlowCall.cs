namespace Voron.Torture.SlowIo;

/// <summary>The calls that are made while others take long.</summary>
internal enum SlowCall
{
    Dispose,
    Flush,
    ReclaimSpace,
    Verify,
    Write,
    WriteLarge,
    WriteStream,
    WriteStaged,
    WriteGroupCommit,
    WriteAsync,
    CommitAsync,
    RollBack,
    Nested,
    BeginWrite,
    BeginWriteAsync,
    BeginRead,
    ReadCursor,
    ReadRange,
    ReadStreams,
    ReadBatch,
    GetStatistics,
    JournalSnapshot,
    TrimMemory,
}
