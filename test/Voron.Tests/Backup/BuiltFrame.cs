using Voron.Format;

namespace Voron.Tests.Backup;

/// <summary>A frame of a backup that is being built. Its content may be changed before the backup is made of it.</summary>
internal sealed class BuiltFrame(BackupFrameKind kind, byte[] raw)
{
    public BackupFrameKind Kind { get; set; } = kind;

    /// <summary>The payload, uncompressed.</summary>
    public byte[] Raw { get; set; } = raw;

    public long Count { get; set; }

    public long Link { get; set; }

    /// <summary>Where the frame is in the backup that was built last.</summary>
    public int Offset { get; set; }

    /// <summary>The number of bytes that it has there, with its header.</summary>
    public int Bytes { get; set; }

    public BuiltFrame Copy() => new(Kind, [.. Raw]) { Count = Count, Link = Link };
}
