using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.Paging;

/// <summary>The header file: two slots, each in its own block, written in turn.</summary>
/// <remarks>
/// If the power fails while a slot is being written, the other slot is still intact. The newer valid slot counts. The older one may be
/// used only when everything from its start on is present; following the journal from its start shows whether it is.
/// </remarks>
internal sealed unsafe class HeaderFile : IDisposable
{
    public const string FileName = "voron.header";

    /// <summary>
    /// The name of the header while an environment is being copied or restored into the directory. The file is the first one that such a copy
    /// creates, and receives its final name last, so an unfinished copy is recognized by it.
    /// </summary>
    public const string UnfinishedCopyName = "voron.backup.partial";

    private readonly DiskFile _file;
    private readonly byte* _block;
    private int _nextSlot;
    private long _lastNumber;

    private HeaderFile(DiskFile file)
    {
        _file = file;
        _block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
    }

    /// <summary>The checkpoint that was last written or read.</summary>
    public CheckpointHeader Current { get; private set; }

    /// <summary>The other slot as found on opening; null when it is not valid.</summary>
    public CheckpointHeader? Previous { get; private set; }

    /// <summary>Creates the file under a name, with the same content in both slots.</summary>
    public static void Create(IDisk disk, string name, CheckpointHeader header)
    {
        disk.Open(name, DiskOpen.New, DiskAccess.WriteThrough).Dispose();
        Fill(disk, name, header);
    }

    /// <summary>Writes both slots of a file that has no slots yet.</summary>
    public static void Fill(IDisk disk, string name, CheckpointHeader header)
    {
        using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
        file.Allocate(0, CheckpointHeader.Slots * JournalFormat.Block);
        file.Sync();
        using var checkpoints = new HeaderFile(file);
        checkpoints.WriteSlot(0, header);
        checkpoints.WriteSlot(1, header);
        file.Sync();
    }

    /// <summary>Opens the file and reads its newer valid slot.</summary>
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="name">The name of the file.</param>
    /// <param name="makesDurable">Makes durable the data that a killed process left visible, and then reads the data from the device.</param>
    /// <exception cref="UnsupportedFormatException">The file is not a header file, or has another version.</exception>
    /// <exception cref="CorruptionException">The file begins like a header, but was cut short, or neither slot is valid.</exception>
    public static HeaderFile Open(IDisk disk, string name = FileName, bool makesDurable = false)
    {
        var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
        HeaderFile? checkpoints = null;
        try
        {
            checkpoints = new HeaderFile(file);
            if (makesDurable)
            {
                file.Sync();
                file.DropCache();
            }

            checkpoints.ReadSlots();
            return checkpoints;
        }
        catch
        {
            checkpoints?.Dispose();
            file.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Takes a number for the next checkpoint, higher than any that a header or a flush has had. Its lowest 16 bits are not zero, because
    /// they represent the whole number in the journal's records.
    /// </summary>
    public long TakeNumber()
    {
        do
            _lastNumber = Math.Max(_lastNumber, Current.CheckpointNumber) + 1;
        while ((ushort)_lastNumber == 0);
        return _lastNumber;
    }

    /// <summary>Returns the number that was taken last, so that it can be taken again.</summary>
    public void ReturnNumber(long number) => _lastNumber = Math.Min(_lastNumber, number - 1);

    /// <summary>Marks numbers up to this one as taken.</summary>
    public void SkipTo(long number) => _lastNumber = Math.Max(_lastNumber, number);

    /// <summary>Writes the next checkpoint, with a number that was taken for it, into the older slot. Durable on return.</summary>
    public void Write(CheckpointHeader header, long number)
    {
        Debug.Assert(number > Current.CheckpointNumber, "The numbers of checkpoints must rise.");
        Debug.Assert(number <= _lastNumber, "The number of a checkpoint must be taken before it is written.");
        header.CheckpointNumber = number;
        WriteSlot(_nextSlot, header);
        _nextSlot = PlantedFault.OneCheckpointSlot ? _nextSlot : 1 - _nextSlot;
        Current = header;
    }

    /// <summary>Writes the current checkpoint into the older slot too: after a clean close, either slot suffices.</summary>
    public void WriteBothAlike() => WriteNext(Current);

    /// <summary>
    /// Writes the current checkpoint to both slots in the newest format version, with more features; one of an older version receives a new
    /// lineage. Durable on return. In between, two slots have the same number, and the one with the higher version, or more features, counts.
    /// </summary>
    public void Upgrade(FormatFeatures features)
    {
        var header = Current;
        if (header.Version != JournalFormat.Version)
            header.Lineage = new Lineage { Id = RandomId.New() };
        header.Version = JournalFormat.Version;
        header.Features |= features;
        if (PlantedFault.UpgradeRecordsAlone || (PlantedFault.RaiseVersionLate && features != FormatFeatures.None))
            Current = header;
        else
            Amend(header);
    }

    /// <summary>
    /// Writes the current checkpoint with an entry of the change log to both slots. Durable on return. In between, two slots have the same number,
    /// and either may count.
    /// </summary>
    public void NameChangeLog(ulong entry) => Amend(Current with { ChangeLogEntry = entry });

    /// <summary>
    /// Completes a change of both slots that was cut short after the first. Otherwise the environment would have version 1 again if that slot became
    /// unreadable, though records and pages of version 2 follow; or fewer features than are in use; or no change log any more, though backups build
    /// on it.
    /// </summary>
    public void CompleteAmendment()
    {
        if (Previous is not { } other)
            return;
        var isAmended = other.CheckpointNumber == Current.CheckpointNumber && other.ChangeLogEntry != Current.ChangeLogEntry;
        if (isAmended || other.Version != Current.Version || other.Features != Current.Features)
            WriteBothAlike();
    }

    public void Dispose()
    {
        _file.Dispose();
        EngineMemory.FreeAligned(_block);
    }

    // The same checkpoint, with the same number, in both slots.
    private void Amend(in CheckpointHeader header)
    {
        WriteNext(header);
        WriteNext(header);
        Current = header;
    }

    private void WriteNext(in CheckpointHeader header)
    {
        WriteSlot(_nextSlot, header);
        _nextSlot = 1 - _nextSlot;
    }

    private void WriteSlot(int slot, CheckpointHeader header)
    {
        NativeMemory.Clear(_block, JournalFormat.Block);
        Debug.Assert(JournalFormat.IsKnown(header.Version), "A header must have a version of the format.");
        header.Magic = CheckpointHeader.FileMagic;
        header.Store(_block);
        var target = (CheckpointHeader*)_block;
        target->Checksum = BlockChecksum(_block);
        _file.Write(slot * JournalFormat.Block, new ReadOnlySpan<byte>(_block, JournalFormat.Block));
    }

    private void ReadSlots()
    {
        const int bytes = CheckpointHeader.Slots * JournalFormat.Block;
        if (_file.Length < bytes)
            throw TooShort(bytes);

        var found = -1;
        var hasMagic = false;
        ulong magic = 0;
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            _file.Read(slot * JournalFormat.Block, new Span<byte>(_block, JournalFormat.Block));
            var header = (CheckpointHeader*)_block;
            magic = header->Magic;
            hasMagic |= magic == CheckpointHeader.FileMagic;
            if (!IsSlot(_block))
                continue;
            CheckVersion(header);
            if (found >= 0 && !IsNewer(header, Current))
            {
                Previous = CheckpointHeader.Load(_block);
                continue;
            }

            Previous = found >= 0 ? Current : null;
            found = slot;
            Current = CheckpointHeader.Load(_block);
        }

        if (found < 0)
        {
            throw hasMagic
                ? new CorruptionException($"Neither of the two copies of the header in '{_file.Path}' has a valid checksum.")
                : new UnsupportedFormatException(
                    $"'{_file.Path}' is not the header file of an environment: it begins with {magic:X16} instead of {CheckpointHeader.FileMagic:X16}.");
        }

        if (StateStructure.FindFault(Current) is { } fault && !PlantedFault.BelieveStates)
            throw new CorruptionException($"The header in '{_file.Path}' has a valid checksum, but contains {fault}.");
        _nextSlot = 1 - found;
    }

    private static bool IsNewer(CheckpointHeader* header, in CheckpointHeader other) =>
        header->CheckpointNumber > other.CheckpointNumber
        || (header->CheckpointNumber == other.CheckpointNumber
            && (header->Version > other.Version || (header->Version == other.Version && (header->Features & ~other.Features) != 0)));

    private void CheckVersion(CheckpointHeader* header)
    {
        if (!JournalFormat.IsKnown(header->Version))
        {
            throw new UnsupportedFormatException(
                $"'{_file.Path}' has format version {header->Version}, but this program knows only {JournalFormat.KnownVersions}.");
        }

        var unknown = header->Features & ~JournalFormat.KnownFeatures;
        if (unknown != 0)
        {
            throw new UnsupportedFormatException(
                $"'{_file.Path}' uses features that this program does not know: {unknown} (bits {(uint)unknown:X8}). Open the environment with a " +
                "newer version of the program.");
        }
    }

    /// <summary>Returns whether a block of the file is a slot as it was written, of any version.</summary>
    public static bool IsSlot(byte* block)
    {
        var header = (CheckpointHeader*)block;
        return header->Magic == CheckpointHeader.FileMagic && (header->Checksum == BlockChecksum(block) || PlantedFault.BelieveHeaders);
    }

    /// <summary>Returns whether a file begins with the first bytes of a header.</summary>
    public static bool BeginsLikeHeader(DiskFile file)
    {
        ulong magic = 0;
        if (file.Length >= sizeof(ulong))
            file.Read(0, new Span<byte>(&magic, sizeof(ulong)));
        return magic == CheckpointHeader.FileMagic;
    }

    // A truncated header is recognized by its first bytes. Without these, nothing shows that the file is one.
    private VoronException TooShort(int bytes)
    {
        var length = _file.Length;
        return BeginsLikeHeader(_file)
            ? new CorruptionException($"'{_file.Path}' has been cut short: it has {length} bytes, and the header of an environment has {bytes}. Restore the whole directory from a backup.")
            : new UnsupportedFormatException($"'{_file.Path}' is not the header file of an environment: it has {length} bytes instead of at least {bytes}.");
    }

    private static ulong BlockChecksum(byte* block) => Checksum.Compute(block + 16, JournalFormat.Block - 16, CheckpointHeader.FileMagic);
}
