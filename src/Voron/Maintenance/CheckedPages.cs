using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>
/// The pages of a snapshot as verification reads them. Pages in the data file are read from the disk and checked, even if they have been
/// checked before. Pages that have a version for the snapshot are not on disk yet, and are not read from it.
/// </summary>
/// <remarks>
/// While the snapshot is registered, no flush writes a page that has no version for it, so the bytes do not change while they are read.
/// </remarks>
internal sealed unsafe class CheckedPages(ReadingEngine engine, SnapshotPages snapshot, ScrubPace pace, Action<string> report)
{
    private readonly DataFile _file = engine.DataFile;
    private readonly HashSet<(uint Tree, int Number)> _dictionaries = [];
    private byte[]? _unpacked;

    public SnapshotPages Snapshot => snapshot;

    public long PageCount { get; } = snapshot.State.PageCount;

    /// <summary>Returns the content of a page, or null when it cannot be used or does not belong to the environment, which is reported.</summary>
    /// <param name="page">The number of the page.</param>
    /// <param name="again">True when the page has been checked before and must not be read from the disk again.</param>
    /// <exception cref="OperationCanceledException">The verification must stop.</exception>
    public byte* Read(long page, bool again)
    {
        if ((page < 0 || page >= PageCount) && !PlantedFault.BelieveDirectory)
        {
            report($"page {page} is referred to, but the snapshot has {PageCount} pages");
            return null;
        }

        if (!again && !Check(page))
            return null;
        try
        {
            return snapshot.Read(new PageNumber(page));
        }
        catch (VoronException problem)
        {
            report($"page {page}: {problem.Message}");
            return null;
        }
    }

    /// <exception cref="OperationCanceledException">The verification must stop.</exception>
    public void ThrowIfStopped() => pace.Stop.ThrowIfCancellationRequested();

    /// <summary>Decompresses a value. Returns null if it is sound, otherwise a sentence.</summary>
    public string? FindFault(byte* record, uint treeId)
    {
        _unpacked ??= new byte[PackedValue.MostBytes];
        try
        {
            int number = LeafPage.Packed(record)->Dictionary;
            if (number != 0 && !_dictionaries.Contains((treeId, number)))
            {
                // A dictionary in memory would hide that the stored one is missing.
                if (!snapshot.Unpacker.IsStored(treeId, number))
                    return $"its value is compressed with dictionary {number}, which the tree does not have, or which is damaged";
                _dictionaries.Add((treeId, number));
            }

            PackedReader.Unpack(snapshot, record, treeId, _unpacked.AsSpan(0, (int)LeafValue.Length(record)));
            return null;
        }
        catch (VoronException problem)
        {
            return problem.Message;
        }
    }

    /// <summary>Checks the chunks of a value, starting at <paramref name="chunk"/>, until the slice is over.</summary>
    /// <returns>False when chunks are left.</returns>
    /// <exception cref="OperationCanceledException">The verification must stop.</exception>
    public bool CheckValue(in LargeExtentReference reference, ref long chunk)
    {
        var chunks = LargeValues.ChunkCount(reference.Length);
        try
        {
            while (chunk < chunks)
            {
                var from = chunk * LargeValues.ChunkBytes;
                var count = Math.Min(LargeValues.ChunkBytes, reference.Length - from);
                var checksums = LargeValueReader.Checksums(snapshot, reference);
                LargeValues.Verify(_file, reference, checksums, from, count, always: true);
                pace.Count(count);
                chunk++;
                if (pace.IsSliceOver && chunk < chunks)
                    return false;
            }
        }
        catch (VoronException problem)
        {
            report($"value at page {reference.FirstPage}: {problem.Message}");
        }

        return true;
    }

    // A page that passed an earlier check may be in use: its content in memory still has the structure that was found then.
    private bool Check(long page)
    {
        pace.Count(engine.PageSize);
        if (engine.Versions.Find(page, snapshot.Id, out _))
            return true;
        var fault = _file.TryVerify(page, pace.Stop, out var pages, out var cause);
        pace.Count((pages - 1) * engine.PageSize);
        if (fault == null)
        {
            _file.MarkVerified(page);
            return true;
        }

        report(fault);
        return cause == null && _file.IsVerified(page);
    }
}
