namespace Voron.IO;

/// <summary>How the bytes of a file reach the device.</summary>
internal enum DiskAccess
{
    /// <summary>
    /// Through the page cache: a write is durable after <see cref="DiskFile.Sync"/>. Reads, maps and writes see the same content.
    /// </summary>
    Buffered,

    /// <summary>
    /// Bypasses the page cache: a write is durable when it returns. Offsets, lengths and addresses are multiples of
    /// <see cref="IDisk.Alignment"/>. Where the file system refuses this, the disk falls back to a buffered write and a sync,
    /// with one warning for the whole disk.
    /// </summary>
    WriteThrough,

    /// <summary>
    /// Bypasses the page cache, aligned like <see cref="WriteThrough"/>, but a write is durable only after a <see cref="DiskFile.Sync"/> of this
    /// or another open file of the same name. Where the file system refuses this, the same as <see cref="Buffered"/>.
    /// </summary>
    Unbuffered,
}
