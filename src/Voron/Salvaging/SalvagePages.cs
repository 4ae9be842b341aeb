using System.Diagnostics;
using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Recovery;
using Voron.Scratch;

namespace Voron.Salvaging;

/// <summary>
/// The pages of a damaged environment as of the recovered state: from the journal, or from the data file, each checked when it is read.
/// </summary>
/// <remarks>Pages are copied to the caller's memory, so a page that the device cannot read affects no other page.</remarks>
internal sealed unsafe class SalvagePages : IDisposable
{
    private readonly DataFile _file;
    private readonly EnvironmentMemory _memory;
    private readonly FrameAllocator _frames;
    private readonly VersionTable _versions;
    private readonly bool _hasHints;
    private IReadOnlyDictionary<long, string>? _lost;

    /// <param name="file">The data file, which this object disposes.</param>
    /// <param name="memory">The memory for pages from the journal, which this object disposes.</param>
    /// <param name="scratchBytes">The most bytes of it that pages take before they go to a temporary file.</param>
    /// <param name="damage">Receives the damaged pages.</param>
    public SalvagePages(DataFile file, EnvironmentMemory memory, long scratchBytes, DamageList damage)
    {
        (_file, _memory, Damage) = (file, memory, damage);
        _hasHints = !file.Format.IsVersion1;
        _frames = new FrameAllocator(file.PageSize, scratchBytes, new SpillFile(memory.TemporaryFiles), memory.Account);
        _versions = new VersionTable(file.PageLimit, memory.Account);
        _versions.EnsureCapacity(file.CapacityPages);
    }

    /// <summary>Receives the damaged pages.</summary>
    public DamageList Damage { get; set; }

    public int PageSize => _file.PageSize;

    /// <summary>The number of pages that the data file contains, or should contain.</summary>
    public long Capacity => _file.CapacityPages;

    /// <summary>The state of the pages.</summary>
    public EnvironmentState State { get; set; }

    /// <summary>Rebuilds the journaled pages.</summary>
    /// <inheritdoc cref="TolerantRecovery.Run"/>
    public TolerantResult Recover(IDisk disk, in CheckpointHeader checkpoint, IReadOnlyList<Journal.JournalFileInfo> files, bool takesNewest)
    {
        Debug.Assert(_versions.ChainCount == 0, "The journal is replayed once.");
        var result = TolerantRecovery.Run(disk, checkpoint, files, new RecoveryTarget(_file, _frames, _versions, _memory.Records), takesNewest);
        (State, _lost) = (result.State, result.Lost);
        return result;
    }

    /// <summary>Copies an intact page. Records the damage if it is not intact.</summary>
    /// <param name="page">The page; for an extent, its first page, of which no more is read.</param>
    /// <param name="target">Memory for a page.</param>
    /// <returns>Null, or a sentence that describes the fault.</returns>
    public string? TryRead(long page, byte* target)
    {
        if (page < 0 || page >= Capacity)
            return $"Page {page} is not among the {Capacity} pages of '{_file.File.Path}'.";
        if (_lost != null && _lost.TryGetValue(page, out var reason))
        {
            Damage.AddPage(DataFile.FileName, page, PageSize, reason);
            return reason;
        }

        var version = _versions.Newest(page);
        if (version == null)
            return TryReadFile(page, target);
        if (version->Frame == null)
            return $"Page {page} is free, or inside an extent.";
        Buffer.MemoryCopy(version->Frame, target, PageSize, PageSize);
        PageHeader.SetDiskBytes(target, page, version->TransactionId);
        return null;
    }

    /// <summary>Copies a leaf or a branch of the data file, even if the journal contains a newer version. Records no damage.</summary>
    /// <returns>False if the page is not an intact leaf or branch.</returns>
    public bool TryReadTreePage(long page, byte* target)
    {
        _file.File.Read(page * PageSize, new Span<byte>(target, PageSize));
        var header = (PageHeader*)target;
        return header->PageNumber == page && TreePageView.IsOfTree(header->Kind)
            && FindFault(page, target, out _) == null;
    }

    /// <summary>Returns the page or the extent rebuilt from the journal; null if the page comes from the data file.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pages">The number of pages in memory.</param>
    /// <param name="isFree">True if the journal has freed the page.</param>
    public byte* FindVersion(long page, out int pages, out bool isFree)
    {
        var version = _versions.Newest(page);
        pages = version == null ? 0 : version->Pages;
        isFree = version != null && version->Frame == null;
        return version == null || _lost?.ContainsKey(page) == true ? null : version->Frame;
    }

    /// <summary>Returns the transaction that wrote a version of a page or an extent; 0 if it is not recorded.</summary>
    public long VersionOf(long page, PageHeader* found)
    {
        var version = _versions.Newest(page);
        return version != null ? version->TransactionId : found->TransactionId;
    }

    public void ReadFile(long offset, Span<byte> target) => _file.File.Read(offset, target);

    public ulong Seed(long page) => _file.Seed(page);

    public void NoteDamage(long page, string message, string? expected = null, string? actual = null) =>
        Damage.AddPage(DataFile.FileName, page, PageSize, message, expected, actual);

    public string Describe(long page) => $"Page {page} of '{_file.File.Path}'";

    public int PageShift => BitOperations.Log2((uint)PageSize);

    public void Dispose()
    {
        _versions.Dispose();
        _frames.Dispose();
        _memory.Dispose();
        _file.Dispose();
    }

    private string? TryReadFile(long page, byte* target)
    {
        _file.File.Read(page * PageSize, new Span<byte>(target, PageSize));
        var header = (PageHeader*)target;

        // The checksum of an extent is checked with the value.
        if (header->Kind == PageKind.Overflow && header->PageNumber == page)
            return null;
        if (FindFault(page, target, out var actual) is not { } fault)
            return null;
        var differs = header->Checksum != actual;
        NoteDamage(page, fault, differs ? $"{header->Checksum:X16}" : null, differs ? $"{actual:X16}" : null);
        return fault;
    }

    // The walks and the census use the same check: a page that only one of them accepted would be lost to both.
    private string? FindFault(long page, byte* bytes, out ulong actual)
    {
        var expected = ((PageHeader*)bytes)->Checksum;
        actual = _file.ComputeChecksum(page, bytes, PageSize);
        if (expected != actual)
            return $"{Describe(page)} is damaged: its checksum should be {expected:X16}, but is {actual:X16}.";
        if (PageHeader.HasSpareBytes(bytes, page, _hasHints))
            return $"{Describe(page)} is damaged: bytes before its number, which no checksum covers, should be zero, but are not.";
        return PageStructure.FindFault(bytes, 1, page, PageSize) is { } malformed
            ? $"{Describe(page)} is malformed, although its checksum is right: {malformed}."
            : null;
    }
}
