using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Journal;
using Voron.Simulation.Disks;

namespace Voron.Torture.Damage;

/// <summary>
/// The files of an environment as an attacker would leave them who knows the format: after any change, all checksums are right once <see
/// cref="Seal"/> has been called, so that only the meaning of the bytes can reveal it.
/// </summary>
internal sealed unsafe class ForgedStore
{
    public const string DataFile = "voron.data";
    public const string HeaderFile = "voron.header";
    public const int PageSize = 4096;

    private readonly SortedDictionary<string, byte[]> _files = new(StringComparer.Ordinal);
    private readonly HashSet<string> _changed = [];
    private readonly HashSet<long> _pages = [];
    private readonly List<(string File, int Offset)> _records = [];
    private readonly RandomId _environmentId;
    private readonly long[] _extentStarts;

    public ForgedStore(StoreFiles files)
    {
        foreach ((var name, var bytes) in files.All)
            _files[name] = bytes;
        var header = Read<CheckpointHeader>(HeaderFile, 0);
        var other = Read<CheckpointHeader>(HeaderFile, JournalFormat.Block);
        _environmentId = header.EnvironmentId;
        PageCount = Math.Max(header.State.PageCount, other.State.PageCount);
        _extentStarts = new long[PageCount];
        for (long page = 0; page < PageCount; page++)
            _extentStarts[page] = page;
        for (long page = 0; page < PageCount; page++)
        {
            var run = Page(page);
            for (var inner = page + 1; run.Kind == PageKind.Overflow && inner < Math.Min(PageCount, page + run.ExtentPages); inner++)
                _extentStarts[inner] = page;
        }
        SystemLeaves = Damage.SystemLeaves.Find(this);
        foreach (var name in _files.Keys.Where(name => JournalFile.IndexOf(name) >= 0 || name.StartsWith("rewrite-", StringComparison.Ordinal)))
            FindRecords(name);
        _records.Sort((left, right) => Read(left).Sequence.CompareTo(Read(right).Sequence));
    }

    /// <summary>The number of pages in the data file.</summary>
    public long PageCount { get; }

    /// <summary>The places of the records in journals and journal snapshots, by sequence.</summary>
    public IReadOnlyList<(string File, int Offset)> Records => _records;

    /// <summary>The leaves of the trees of tables and feeds.</summary>
    public IReadOnlyList<(string Tree, IReadOnlyList<long> Pages)> SystemLeaves { get; }

    public IReadOnlyList<string> Journals => [.. _files.Keys.Where(name => JournalFile.IndexOf(name) >= 0)];

    public StoreFiles Files => new(_files);

    public PageHeader Page(long page) => Read<PageHeader>(DataFile, page * PageSize);

    /// <summary>Returns the bytes of a page to be changed.</summary>
    public Span<byte> ChangePage(long page)
    {
        _pages.Add(page);
        return Bytes(DataFile).Slice((int)(page * PageSize), PageSize);
    }

    /// <summary>Returns the bytes of a page to be read.</summary>
    public ReadOnlySpan<byte> PageBytes(long page) => _files[DataFile].AsSpan((int)(page * PageSize), PageSize);

    /// <summary>Returns the bytes of a file to be changed.</summary>
    public Span<byte> Bytes(string file)
    {
        if (_changed.Add(file))
            _files[file] = (byte[])_files[file].Clone();
        return _files[file];
    }

    public RecordHeader Read((string File, int Offset) record) => Read<RecordHeader>(record.File, record.Offset);

    /// <summary>Makes all checksums and the chain of records right again.</summary>
    public void Seal()
    {
        foreach (var page in _pages)
            SealPage(_extentStarts[page]);
        for (var slot = 0; slot < CheckpointHeader.Slots && _changed.Contains(HeaderFile); slot++)
            SealBlock(HeaderFile, slot * JournalFormat.Block, CheckpointHeader.FileMagic);
        foreach (var journal in Journals.Where(_changed.Contains))
        {
            SealBlock(journal, 0, JournalFormat.FileMagic);
            SealBlock(journal, JournalFormat.Block, JournalFormat.FileMagic);
        }
        if (_records.Any(record => _changed.Contains(record.File)))
            SealRecords();
    }

    /// <summary>Returns the payload of a record as stored in the file; empty if its length leads out of the file.</summary>
    public Span<byte> Payload((string File, int Offset) record)
    {
        var header = Read(record);
        var length = header.StoredLength;
        var from = record.Offset + header.HeaderSize;
        return length >= 0 && length <= _files[record.File].Length - from ? Bytes(record.File).Slice(from, (int)length) : [];
    }

    private T Read<T>(string file, long offset)
        where T : unmanaged => MemoryMarshal.Read<T>(_files[file].AsSpan((int)offset));

    private void FindRecords(string name)
    {
        var bytes = _files[name];
        var offset = name.StartsWith("rewrite-", StringComparison.Ordinal) ? 0 : JournalFormat.FirstRecordOffset;
        while (offset + JournalFormat.Block <= bytes.Length)
        {
            var record = Read<RecordHeader>(name, offset);
            if (record.Marker != JournalFormat.RecordMarker || record.Offset != offset)
            {
                offset += JournalFormat.Block;
                continue;
            }
            _records.Add((name, offset));
            offset += (int)record.AlignedLength;
        }
    }

    private void SealPage(long page)
    {
        var header = Page(page);
        long pages = header.Kind == PageKind.Overflow && header.ExtentPages > 1 && header.ExtentPages <= (_files[DataFile].Length / PageSize) - page
            ? header.ExtentPages
            : 1;
        var bytes = Bytes(DataFile).Slice((int)(page * PageSize), (int)pages * PageSize);
        var checksum = Checksum.Compute(bytes[PageHeader.UnjournaledBytes..], Checksum.Seed(_environmentId, page));
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, checksum);
    }

    private void SealBlock(string file, int offset, ulong magic)
    {
        var block = Bytes(file).Slice(offset, JournalFormat.Block);
        if (BinaryPrimitives.ReadUInt64LittleEndian(block) == magic)
            BinaryPrimitives.WriteUInt64LittleEndian(block[8..], Checksum.Compute(block[16..], magic));
    }

    // Each record names the checksum of its predecessor; the header names the checksum of the record at which replay starts.
    private void SealRecords()
    {
        var old = new Dictionary<ulong, ulong>();
        foreach ((var file, var offset) in _records)
        {
            fixed (byte* bytes = Bytes(file)[offset..])
            {
                var record = (RecordHeader*)bytes;
                var before = record->Checksum;
                if (old.TryGetValue(record->PreviousChecksum, out var changed))
                    record->PreviousChecksum = changed;
                if (record->StoredLength < 0 || record->StoredLength > Bytes(file).Length - offset - record->HeaderSize)
                    continue;
                record->Checksum = RecordChecksum.Compute(_environmentId, bytes);
                old[before] = record->Checksum;
            }
        }
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            fixed (byte* bytes = Bytes(HeaderFile)[(slot * JournalFormat.Block)..])
            {
                var header = (CheckpointHeader*)bytes;
                if (!old.TryGetValue(header->ReplayStart.Checksum, out var changed) || changed == header->ReplayStart.Checksum)
                    continue;
                header->ReplayStart.Checksum = changed;
                SealBlock(HeaderFile, slot * JournalFormat.Block, CheckpointHeader.FileMagic);
            }
        }
    }
}
