using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Opening;
using Voron.Paging;
using Voron.Primitives;
using Voron.Recovery;
using Voron.Testing;

namespace Voron.Salvaging;

/// <summary>The readable parts of a damaged environment: its headers, its journal files, and the identity of its pages.</summary>
internal sealed unsafe class DamagedSource : IDisposable
{
    private const long ScratchBytes = 64L << 20;
    private const long RecordBytes = 32L << 20;

    /// <summary>The number of pages that a data file may have lost at its end without a trace in the journal.</summary>
    private const long MorePages = 1 << 20;

    private readonly List<IDisposable> _locks = [];
    private readonly List<CheckpointHeader> _headers = [];
    private readonly List<JournalFileInfo> _journals = [];
    private readonly HashSet<string> _names;
    private JournalScan? _scan;

    private DamagedSource(SourceDisk disk, DamageList damage)
    {
        (Disk, Damage) = (disk, damage);
        _names = disk.List().Select(entry => entry.Name).ToHashSet(StringComparer.Ordinal);
    }

    public SourceDisk Disk { get; }

    public DamageList Damage { get; }

    /// <summary>The environment's id; default if nothing names it.</summary>
    public RandomId EnvironmentId { get; private set; }

    public int PageSize { get; private set; }

    public ulong SeedBase { get; private set; }

    public uint Version { get; private set; } = JournalFormat.Version;

    /// <summary>The length of the data file in bytes.</summary>
    public long DataBytes { get; private set; }

    /// <summary>Locks the files against writers, and identifies the environment.</summary>
    /// <param name="directory">The directory, opened for reading. Disposed with the result, or if this fails.</param>
    /// <param name="stop">Ends the search for pages.</param>
    /// <exception cref="EnvironmentInUseException">The environment is open for writing.</exception>
    /// <exception cref="EnvironmentNotFoundException">The directory contains no file of an environment.</exception>
    /// <exception cref="CorruptionException">Nothing identifies the environment: neither a header, nor a journal file, nor two pages.</exception>
    /// <exception cref="UnsupportedFormatException">The environment has a newer format version.</exception>
    public static DamagedSource Open(IDisk directory, CancellationToken stop)
    {
        var damage = new DamageList();
        var disk = new SourceDisk(directory, damage);
        DamagedSource? source = null;
        try
        {
            source = new DamagedSource(disk, damage);
            source.Lock();
            source.Identify(stop);
            return source;
        }
        catch
        {
            source?.Dispose();
            if (source == null)
                disk.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Returns the states from which pages may be rebuilt, the most trusted first, each with a description, and whether a matching stamp proves
    /// that the data file contains its pages.
    /// </summary>
    public IEnumerable<(CheckpointHeader Header, string Origin, bool IsCertain)> StartPoints()
    {
        for (var i = 0; i < _headers.Count; i++)
            yield return (_headers[i], i == 0 ? "the header" : "the older slot of the header", true);
        if (_scan == null || (!TryReadStamp(out var stamp) && DataBytes > 0))
            yield break;

        // A data file with a header says by its stamp that the journal need not go back to the beginning.
        if (stamp == 0 && DataBytes > 0 && _headers.Count > 0)
            yield break;
        var template = new CheckpointHeader { Version = Version, PageSize = (uint)PageSize, EnvironmentId = EnvironmentId };
        if (_scan.FindCheckpoint(template, stamp) is not { } header)
            yield break;
        if (stamp == 0)
        {
            yield return (header, "the journal from its beginning", true);
            yield break;
        }

        using var data = Disk.OpenDataFile(PageSize);
        yield return (header, "the record of the last flush in the journal",
            PlantedFault.BelieveFinishedStamp || _scan.HasPagesOf(data, PageSize, SeedBase, stamp));
    }

    /// <summary>Opens the pages as stored in the data file.</summary>
    public SalvagePages OpenPages(in CheckpointHeader header)
    {
        using var memory = new Owned<EnvironmentMemory>(new EnvironmentMemory(TemporaryFiles.ForReader(GuardedLogger.Of(null)), RecordBytes));
        var bytes = Math.Max(DataBytes, JournaledPages() * PageSize);
        var format = new EnvironmentFormat();
        format.Adopt(header);
        using var file = new Owned<DiskFile>(Disk.OpenDataFile(Math.Max(PageSize, bytes)));
        var addresses = new PlannedAddresses(Math.Max(PageSize, bytes) / PageSize);
        var data = new DataFile(file.Value, EnvironmentId, PageSize, addresses, new PoisonState(Disk.Path))
        {
            Format = format,
            SeedBase = SeedBase,
        };
        file.Release();
        using var owned = new Owned<DataFile>(data);
        var result = new SalvagePages(data, memory.Value, ScratchBytes, Damage);
        owned.Release();
        memory.Release();
        return result;
    }

    // Bounds the page count that a state may claim: a page that only the journal contains takes at least one entry there.
    private long JournaledPages() =>
        _scan == null ? 0 : Math.Min(_scan.PageCount, DataBytes / PageSize + MorePages + _scan.Bytes / CompactPageEntry.Size);

    /// <summary>Rebuilds the journaled pages.</summary>
    public TolerantResult Recover(SalvagePages pages, in CheckpointHeader header, bool takesNewest) =>
        pages.Recover(Disk, header, _journals, takesNewest);

    public void Dispose()
    {
        _locks.ForEach(held => held.Dispose());
        Disk.Dispose();
    }

    private void Lock()
    {
        foreach (var name in new[] { HeaderFile.FileName, EnvironmentCreator.UnfinishedHeaderName, DataFile.FileName })
        {
            try
            {
                if (_names.Contains(name) && EnvironmentFileLock.TryTake(Disk, name, shared: true) is { } held)
                    _locks.Add(held);
            }
            catch (DiskException e)
            {
                Damage.Add(name, $"'{name}' cannot be locked, so another process may be writing to it: {e.Message}");
            }
        }
    }

    private void Identify(CancellationToken stop)
    {
        foreach (var name in new[] { HeaderFile.FileName, EnvironmentCreator.UnfinishedHeaderName }.Where(_names.Contains))
            Read(name, file => _headers.AddRange(HeaderSlots.Read(file, name, Damage)));
        var hasData = _names.Contains(DataFile.FileName);
        var journals = _names.Where(JournalFile.IsName).Order(StringComparer.Ordinal).ToList();
        if (_headers.Count == 0 && !hasData && journals.Count == 0)
            throw new EnvironmentNotFoundException($"'{Disk.Path}' contains no file of an environment: neither a header, a data file nor a " +
                "journal file.");
        NoteMissing(hasData);
        if (hasData)
            Read(DataFile.FileName, file => DataBytes = file.Length);
        (int PageSize, ulong SeedBase)? found = null;
        if (hasData)
            Read(DataFile.FileName, file => found = SeedSearch.Find(file, stop));
        DropForeignHeaders(found);
        if (_headers.Count > 0)
            Adopt(_headers[0].EnvironmentId, (int)_headers[0].PageSize, _headers[0].Version);
        else
            IdentifyByContent(journals, found);
        _headers.RemoveAll(header => header.EnvironmentId != EnvironmentId || header.PageSize != PageSize);
        foreach (var name in journals)
            Read(name, file => AddJournal(file, name));
        if (_journals.Count == 0)
            return;
        using var memory = new EnvironmentMemory(TemporaryFiles.ForReader(GuardedLogger.Of(null)), RecordBytes);
        _scan = new JournalScan(Disk, EnvironmentId, _journals, memory.Records);
    }

    private void NoteMissing(bool hasData)
    {
        if (!_names.Contains(HeaderFile.FileName))
            Damage.Add(HeaderFile.FileName, $"The header file '{HeaderFile.FileName}' is missing.");
        if (!hasData)
            Damage.Add(DataFile.FileName, $"The data file '{DataFile.FileName}' is missing.");
    }

    private void Adopt(RandomId id, int pageSize, uint version) =>
        (EnvironmentId, PageSize, Version, SeedBase) = (id, pageSize, version, Checksum.SeedBase(id));

    // The pages of the data file decide, not a header left by another environment or by a copy.
    private void DropForeignHeaders((int PageSize, ulong SeedBase)? found)
    {
        if (found is not { } pages)
            return;
        var foreign = _headers.RemoveAll(header => header.PageSize != pages.PageSize || Checksum.SeedBase(header.EnvironmentId) != pages.SeedBase);
        if (foreign > 0)
            Damage.Add(HeaderFile.FileName, "The header belongs to another environment than the pages of the data file, and is ignored.");
    }

    // A journal file names the environment. If the data file exists, its pages decide.
    private void IdentifyByContent(List<string> journals, (int PageSize, ulong SeedBase)? found)
    {
        var named = new List<JournalFileHeader>();
        foreach (var name in journals)
            Read(name, file => named.AddRange(JournalFileHeaderReader.Peek(file)));
        foreach (var header in named.Where(header => JournalFormat.IsKnown(header.Version) && StateStructure.IsPageSize(header.PageSize)))
        {
            if (found is { } pages && (pages.SeedBase != Checksum.SeedBase(header.EnvironmentId) || pages.PageSize != header.PageSize))
                continue;
            Adopt(header.EnvironmentId, (int)header.PageSize, header.Version);
            return;
        }

        if (found is not { } known)
        {
            throw new CorruptionException(
                $"Nothing in '{Disk.Path}' identifies the environment, so no page can be verified: there is no valid header, no valid journal " +
                $"file header, and no two pages of '{DataFile.FileName}' agree. Nothing can be salvaged. Restore the environment from a backup.");
        }

        (PageSize, SeedBase) = known;
    }

    private void AddJournal(DiskFile file, string name)
    {
        try
        {
            if (JournalFileHeaderReader.Read(file, name, EnvironmentId, out _, acceptsCut: true) is { } info)
            {
                _journals.Add(info);
                if (file.Length < info.Header.FileLength)
                    Damage.AddPlace(name, file.Length, $"'{file.Path}' has been cut short: it has {file.Length} bytes, but was created with {info.Header.FileLength}.");
            }
            else if (JournalFile.IndexOf(name) > 0)
                Damage.Add(name, $"The journal file '{file.Path}' has no valid header, or its epoch has not begun.");
        }
        catch (VoronException e)
        {
            Damage.Add(name, e.Message);
        }
    }

    private void Read(string name, Action<DiskFile> read)
    {
        try
        {
            using var file = Disk.Open(name, DiskOpen.Existing, DiskAccess.Buffered);
            read(file);
        }
        catch (DiskException e)
        {
            Damage.Add(name, $"'{name}' cannot be read: {e.Message}");
        }
    }

    // No checksum covers the stamp, so it is trusted if the rest of its page is intact.
    private bool TryReadStamp(out ulong stamp)
    {
        using var file = Disk.OpenDataFile(PageSize);
        using var page = new PageBuffer(PageSize);
        file.Read(0, new Span<byte>(page.Bytes, PageSize));
        stamp = page.Header->Stamp;
        var length = (nuint)(PageSize - PageHeader.UnjournaledBytes);
        return page.Header->Checksum == Checksum.Compute(page.Bytes + PageHeader.UnjournaledBytes, length, Checksum.Seed(SeedBase, 0));
    }

    /// <summary>Disposes an object, unless another one has taken it over.</summary>
    private sealed class Owned<T>(T value) : IDisposable
        where T : class, IDisposable
    {
        private T? _value = value;

        public T Value => _value!;

        public void Release() => _value = null;

        public void Dispose() => _value?.Dispose();
    }
}
