namespace Voron.IO;

/// <summary>Whether a file must exist.</summary>
internal enum DiskOpen
{
    /// <summary>It must exist; otherwise <see cref="DiskError.NotFound"/>.</summary>
    Existing,

    /// <summary>It must not exist; otherwise <see cref="DiskError.AlreadyExists"/>.</summary>
    New,
}
