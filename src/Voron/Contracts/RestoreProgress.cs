namespace Voron;

/// <summary>Describes how far a restore is, for <see cref="RestoreOptions.Progress"/>. A verification after it is not included.</summary>
/// <param name="BytesDone">The number of bytes of the backups that were read and restored.</param>
/// <param name="BytesTotal">The length of all backups in bytes; 0 where it is not known.</param>
public readonly record struct RestoreProgress(long BytesDone, long BytesTotal);
