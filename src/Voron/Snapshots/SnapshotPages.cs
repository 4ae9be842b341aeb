using System.Diagnostics;
using System.Numerics;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.KeyHeads;

namespace Voron.Snapshots;

/// <summary>The pages as seen by one registered snapshot. Pooled; keeps its slot in the reader table for life.</summary>
internal sealed unsafe class SnapshotPages : PageReader
{
    private readonly ReaderTable _readers;
    private readonly VersionTable _versions;
    private readonly DataFile _dataFile;
    private readonly int _slot;
    private readonly int _pageShift;
    private readonly bool _verifyEveryRead;
    private readonly bool _isEngine;
    private readonly LargeValueReader _largeValues;
    private PublishedState* _published;
    private AttachedObjects? _attached;
    private byte* _map;
    private long _id;
    private long _pageCount;

    /// <param name="source">The source of the pages.</param>
    /// <param name="forEngine">True to take one of the slots reserved for the engine.</param>
    /// <param name="verifiesEveryRead">
    /// True to verify each page on the device at each read, even if other readers verify it only the first time.
    /// </param>
    public SnapshotPages(SnapshotSource source, bool forEngine = false, bool verifiesEveryRead = false)
    {
        _readers = source.Readers;
        _versions = source.Versions;
        _dataFile = source.DataFile;
        PageSize = source.PageSize;
        _pageShift = BitOperations.Log2((uint)PageSize);
        _verifyEveryRead = source.VerifyEveryRead || verifiesEveryRead;
        _isEngine = forEngine;
        _largeValues = new LargeValueReader(this, _dataFile, _verifyEveryRead);
        KeyHeads = new TransactionKeyHeads(_verifyEveryRead ? null : source.DataFileKeyHeads, branches: null);

        Unpacker = new DictionaryUnpacker(this, source.Dictionaries) { Catalog = () => State.Catalog };

        // Taken last: if the constructor failed after this, the slot would never be returned.
        _slot = _readers.TakeSlot(forEngine);
    }

    /// <summary>The key heads that this snapshot's trees search with.</summary>
    public TransactionKeyHeads KeyHeads { get; }

    public override int PageSize { get; }

    public override string FilePath => _dataFile.File.Path;

    public override Lineage Lineage => _dataFile.Format.Lineage;

    public override long PageCount => _pageCount;

    public override DictionaryUnpacker Unpacker { get; }

    /// <summary>The id of the transaction whose state this is.</summary>
    public long Id => _id;

    public int Slot => _slot;

    /// <summary>The objects attached to the state; null for none.</summary>
    public AttachedObjects? Attached => Volatile.Read(ref _attached);

    public ref readonly EnvironmentState State => ref _published->State;

    /// <summary>The sequence of the journal record that made the state, or that was the last one when the environment was opened.</summary>
    public long Sequence => _published->JournalEnd.Sequence;

    /// <summary>Registers the snapshot with the newest published state.</summary>
    public void Begin(StackTrace? openedAt = null, int thread = 0)
    {
        _readers.NoteOrigin(_slot, openedAt, thread);
        Take(_readers.Register(_slot, out var attached), attached);
    }

    /// <summary>
    /// Registers the snapshot with that of another one, regardless of later publications. The caller then checks that the other one has not ended,
    /// and calls <see cref="ConfirmFork"/> or <see cref="End"/>.
    /// </summary>
    public void BeginFork(SnapshotPages source, StackTrace? openedAt, int thread)
    {
        _readers.NoteOrigin(_slot, openedAt, thread);

        // The objects of the other one are read before the caller's check, like its slot.
        Take(_readers.RegisterFork(_slot, source._slot), source.Attached);
    }

    /// <inheritdoc cref="ReaderTable.ConfirmFork"/>
    public void ConfirmFork() => _readers.ConfirmFork(_slot);

    /// <summary>Forgets the objects attached to the last snapshot. No snapshot is registered.</summary>
    public void ForgetAttached() => Volatile.Write(ref _attached, null);

    private void Take(PublishedState* published, AttachedObjects? attached)
    {
        _published = published;

        // Stored only if it differs, which spares most snapshots the write barrier of the garbage collector.
        if (!ReferenceEquals(_attached, attached))
            Volatile.Write(ref _attached, attached);
        _map = _published->Map;
        _id = _published->State.TransactionId;
        _pageCount = _published->State.PageCount;
    }

    /// <summary>Releases the snapshot. Data that was read through it must not be used any more.</summary>
    public void End()
    {
        Unpacker.End();
        _readers.Release(_slot);
    }

    /// <summary>Returns the slot; this object must not be used any more.</summary>
    public void Retire()
    {
        Unpacker.Arena.Free();
        _readers.FreeSlot(_slot, _isEngine);
    }

    public override byte* Read(PageNumber page)
    {
        var number = page.Value;
        if ((ulong)number >= (ulong)_pageCount)
            PageErrors.ThrowBeyond(this, number);
        if (_versions.Find(number, _id, out var version))
        {
            if (version.Frame == null)
                PageErrors.ThrowFreed(this, number, version.Flags);
            return version.Frame;
        }

        if (_verifyEveryRead || !_dataFile.IsVerified(number))
            _dataFile.Verify(number);
        return _map + (number << _pageShift);
    }

    public override byte* Peek(PageNumber page)
    {
        var number = page.Value;
        if ((ulong)number >= (ulong)_pageCount)
            return null;
        return _versions.Find(number, _id, out var version) ? version.Frame : _map + (number << _pageShift);
    }

    public override byte* DataFilePage(PageNumber page)
    {
        var number = page.Value;
        // Page 0 holds a map; in the table of key heads, its number means "no page".
        return (ulong)(number - 1) >= (ulong)(_pageCount - 1) || _versions.Find(number, _id, out _) ? null : _map + (number << _pageShift);
    }

    public override void PrefetchDataFilePage(PageNumber page) => _versions.PrefetchChain(page.Value);

    public override void ScanAhead(PageNumber page, int step) =>
        _dataFile.ReadAhead?.FetchBehind(_map, page.Value, step, PageSize, _pageCount);

    public override ReadOnlySpan<byte> ReadLarge(scoped in LargeExtentReference reference, long offset, int count) =>
        _largeValues.Read(_map, _pageCount, reference, offset, count);
}
