using Voron.Paging;
using Voron.Trees.KeyHeads;

namespace Voron.Snapshots;

/// <summary>The parts that snapshots read pages from, and register in.</summary>
internal sealed class SnapshotSource
{
    /// <summary>The size of a page in bytes.</summary>
    public required int PageSize { get; init; }

    public required DataFile DataFile { get; init; }

    public required VersionTable Versions { get; init; }

    public required ReaderTable Readers { get; init; }

    /// <summary>The dictionaries of compressed values.</summary>
    public required ValueDictionaries Dictionaries { get; init; }

    /// <summary>Used by all readers; null when switched off.</summary>
    public required DataFileKeyHeads? DataFileKeyHeads { get; init; }

    /// <summary>True when a page of the data file is verified each time it is read, and not only the first time.</summary>
    public required bool VerifyEveryRead { get; init; }
}
