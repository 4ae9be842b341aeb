using Voron.Format;

namespace Voron.Flushing;

/// <summary>A checkpoint's description of a journal snapshot; number 0 means none.</summary>
internal readonly record struct JournalSnapshotInfo(long Number, long Length, RandomId Incarnation);
