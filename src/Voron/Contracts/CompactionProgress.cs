namespace Voron;

/// <summary>How far a compaction has come.</summary>
/// <param name="BytesMoved">The number of bytes of pages that have been moved.</param>
/// <param name="BytesExpected">The number of bytes that will have been moved at the end, if nothing else changes.</param>
/// <param name="FileBytes">The length of the data file.</param>
public readonly record struct CompactionProgress(long BytesMoved, long BytesExpected, long FileBytes);
