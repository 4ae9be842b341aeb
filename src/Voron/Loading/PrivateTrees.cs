using Voron.IO;
using Voron.Paging;
using Voron.Staging;
using Voron.Transactions;

namespace Voron.Loading;

/// <summary>The pages of trees that no transaction knows yet, until one adopts them.</summary>
/// <remarks>
/// <code>
///   entries in key order ─▶ private pages ─▶ written, synced ─▶ adopted by a commit
/// </code>
/// The pages are durable before the record of that commit names their ranges, so it needs neither their bytes nor their checksums, and a recovery
/// reads none of them. Until the commit, nothing on disk refers to the pages. Used by one thread at a time.
/// </remarks>
internal sealed class PrivateTrees : IDisposable
{
    private readonly List<(long First, int Length, ulong[] Checksums)> _aside = [];

    /// <param name="area">Reserves pages.</param>
    /// <param name="stop">Cancels the waits for the writer, and other work.</param>
    public PrivateTrees(StagingArea area, CancellationToken stop)
    {
        Area = area;
        Stop = stop;
        Space = new LoadSpace(area, stop);
        Pages = new PrivatePages(area.Engine, Space);
        TemporaryFiles = area.Engine.Memory.TemporaryFiles;
    }

    public ReadingEngine Engine => Area.Engine;

    public StagingArea Area { get; }

    public CancellationToken Stop { get; }

    public LoadSpace Space { get; }

    public PrivatePages Pages { get; }

    /// <summary>Where keys are sorted that memory does not hold.</summary>
    public TemporaryFiles TemporaryFiles { get; init; }

    /// <summary>
    /// Writes a value to pages of its own, as those of a staged value: without a page header, and with a checksum for each chunk.
    /// </summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public (long First, ulong[] Checksums) WriteValue(ReadOnlySpan<byte> value)
    {
        var first = Space.AllocateExtent(LargeValues.PageCount(Engine.PageSize, value.Length));
        var checksums = new ulong[LargeValues.ChunkCount(value.Length)];
        for (var chunk = 0; chunk < checksums.Length; chunk++)
        {
            var rest = value[(chunk * LargeValues.ChunkBytes)..];
            checksums[chunk] = Area.File.WriteChunk(first, chunk, rest[..Math.Min(rest.Length, LargeValues.ChunkBytes)]);
        }

        return (first, checksums);
    }

    /// <summary>Puts a value aside that no tree is to have, and returns its number.</summary>
    /// <inheritdoc cref="WriteValue"/>
    public int PutAside(ReadOnlySpan<byte> value)
    {
        var (first, checksums) = WriteValue(value);
        _aside.Add((first, value.Length, checksums));
        return _aside.Count - 1;
    }

    /// <summary>Reads a value that was put aside.</summary>
    /// <exception cref="CorruptionException">The value has decayed.</exception>
    /// <exception cref="StorageAccessException">The value could not be read.</exception>
    public byte[] ReadAside(int number)
    {
        var (first, length, checksums) = _aside[number];
        var value = new byte[length];
        for (var chunk = 0; chunk < checksums.Length; chunk++)
        {
            var rest = value.AsSpan(chunk * LargeValues.ChunkBytes);
            Area.File.ReadChunk(first, chunk, rest[..Math.Min(rest.Length, LargeValues.ChunkBytes)], checksums[chunk]);
        }

        return value;
    }

    /// <summary>Writes and syncs all pages.</summary>
    /// <inheritdoc cref="PrivatePages.WriteAll"/>
    public async ValueTask MakeDurableAsync()
    {
        Pages.WriteAll();
        await Area.Sync.RunAsync().ConfigureAwait(false);
    }

    /// <summary>Takes the pages in the transaction that has adopted their trees.</summary>
    public void TakePages(WriteTransactionBody body)
    {
        foreach (var (first, pages) in Space.UsedRanges())
            body.WritePages.TakeLoaded(first, pages);
    }

    /// <summary>Frees the memory, and the pages unless a transaction has taken them, when the write under way has ended.</summary>
    public void Dispose()
    {
        // Others may write to the pages once they are released.
        Pages.Dispose();
        Space.Release();
    }
}
