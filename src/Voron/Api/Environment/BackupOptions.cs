using Voron.Format;

namespace Voron;

/// <summary>Options of <see cref="StorageEnvironment.BackupAsync(string, BackupOptions?, CancellationToken)"/>.</summary>
public sealed class BackupOptions
{
    /// <summary>The id of the backup to build on: only pages changed since that backup are copied. Null, the default, to copy all pages.</summary>
    public Guid? Since { get; set; }

    /// <summary>
    /// True, the default, to let later backups build on this one. The environment then keeps a change log, from the first backup on, of at most
    /// <see cref="StorageOptions.ChangeLogBytes"/>.
    /// </summary>
    public bool IsBase { get; set; } = true;

    /// <summary>
    /// True to copy all pages if the environment no longer recognises the backup in <see cref="Since"/>. False, the default, to throw a
    /// <see cref="BackupException"/> in that case (<see cref="BackupFault.UnknownBase"/>).
    /// </summary>
    public bool FallBackToFull { get; set; }

    /// <summary>The maximum number of bytes of pages to read per second; 0, the default, for no limit.</summary>
    public long MaxBytesPerSecond { get; set; }

    /// <summary>True, the default, to compress the pages (LZ4).</summary>
    public bool Compress { get; set; } = true;

    /// <summary>
    /// True to verify all values and the key order of all trees before copying: this reads the environment once more, tree by tree. False, the
    /// default, to check only the pages themselves while they are copied. Large values are stored in separate pages, and their checksums elsewhere:
    /// without this option, they are copied unchecked.
    /// </summary>
    public bool VerifyValues { get; set; }

    /// <summary>A text to store in the backup, at most 65,536 bytes in UTF-8; null, the default, for none.</summary>
    public string? Note { get; set; }

    /// <summary>Receives the progress; null, the default, for none. The thread that writes calls it, and waits for it.</summary>
    public IProgress<BackupProgress>? Progress { get; set; }

    /// <summary>The time after which a snapshot is renewed. Settable for tests.</summary>
    internal TimeSpan UsualHold { get; set; } = TimeSpan.FromMilliseconds(100);

    /// <summary>The maximum number of bytes of pages copied at a time. Settable for tests.</summary>
    internal int BatchBytes { get; set; } = BackupFrame.MaxPageBytes;

    /// <summary>True to do all work on the calling thread. Settable for tests.</summary>
    internal bool IsOnOneThread { get; set; }

    /// <summary>Returns a copy, so that later changes of the caller's object have no effect.</summary>
    internal BackupOptions Copy() => (BackupOptions)MemberwiseClone();
}
