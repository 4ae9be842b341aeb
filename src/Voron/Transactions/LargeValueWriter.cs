using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>Writes large values straight to the data file, once, and their checksums to ordinary pages.</summary>
/// <remarks>
/// The pages are free and untouched since the last checkpoint, so no snapshot reads them and no flush writes them. They are
/// synced before the record that names them is submitted; if it never is, they are free pages with new bytes.
/// </remarks>
internal sealed unsafe class LargeValueWriter
{
    private readonly EngineContext _context;
    private readonly WriteSession _session;
    private readonly int _pageShift;

    public LargeValueWriter(EngineContext context, WriteSession session)
    {
        _context = context;
        _session = session;
        _pageShift = BitOperations.Log2((uint)context.PageSize);
    }

    /// <summary>Values of this many bytes and more are written here.</summary>
    public int ThresholdBytes => _context.Options.LargeValueBytes;

    /// <summary>Sets the value of a key.</summary>
    public void Put(TreeState tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var pages = TreeLimits.LargeRunPages(_context.PageSize, value.Length);
        var first = _session.AllocateUntouchedRun(pages);
        WriteBytes(first, 0, value);
        Attach(tree, key, first, pages, value.Length, ChecksumsOf(first, value));
    }

    /// <summary>Writes bytes of a value whose run starts at that page.</summary>
    public void WriteBytes(long firstPage, long offset, ReadOnlySpan<byte> bytes)
    {
        try
        {
            _context.DataFile.File.Write((firstPage << _pageShift) + offset, bytes);
        }
        catch (DiskException e) when (e.Error == DiskError.NoSpace)
        {
            throw new StorageFullException($"No room for a value of the data file: {e.Message}", e);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"A value could not be written: {e.Message}", e);
        }
    }

    /// <summary>The checksum of one chunk.</summary>
    public ulong ChecksumOf(long firstPage, long chunk, ReadOnlySpan<byte> bytes) =>
        Checksum.Compute(bytes, _context.DataFile.Seed(LargeValues.ChunkPage(firstPage, chunk, _pageShift)));

    /// <summary>Gives a run that has been written to a key.</summary>
    public void Attach(TreeState tree, ReadOnlySpan<byte> key, long firstPage, long pages, long length, ReadOnlySpan<ulong> checksums)
    {
        var descriptor = _session.AllocateRun(checksums.Length * sizeof(ulong), tree.Root);
        checksums.CopyTo(new Span<ulong>(descriptor.Bytes + PageHeader.Size, checksums.Length));
        for (var chunk = 0L; chunk < checksums.Length; chunk++)
            _context.DataFile.MarkVerified(LargeValues.ChunkPage(firstPage, chunk, _pageShift));

        var descriptorPage = descriptor.Header->PageNumber;
        _session.AddDirectRun(firstPage, pages, new DirectRun { Length = length, DescriptorPage = descriptorPage });
        TreeWriter.PutLargeRun(_session, tree, key, new LargeRunReference { FirstPage = firstPage, Length = length, ChecksumPage = descriptorPage });
    }

    private ulong[] ChecksumsOf(long firstPage, ReadOnlySpan<byte> value)
    {
        var checksums = new ulong[LargeValues.ChunkCount(value.Length)];
        for (var chunk = 0; chunk < checksums.Length; chunk++)
        {
            var rest = value[(chunk * LargeValues.ChunkBytes)..];
            checksums[chunk] = ChecksumOf(firstPage, chunk, rest[..Math.Min(rest.Length, LargeValues.ChunkBytes)]);
        }

        return checksums;
    }
}
