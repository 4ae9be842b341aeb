using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Paging;

/// <summary>The header file: two slots, each in a block of its own, written in turn.</summary>
/// <remarks>
/// A slot that is being written when the power fails leaves the other one. The newer valid slot counts; that the older one
/// may be used only when everything from its start on is there, is seen by following the journal from it.
/// </remarks>
internal sealed unsafe class CheckpointFile : IDisposable
{
    public const string FileName = "voron.header";

    private readonly DiskFile _file;
    private readonly byte* _block;
    private int _nextSlot;
    private long _lastNumber;

    private CheckpointFile(DiskFile file)
    {
        _file = file;
        _block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
    }

    /// <summary>The checkpoint that was written or read last.</summary>
    public CheckpointHeader Current { get; private set; }

    /// <summary>The other slot as it was found at opening; null when it is not valid.</summary>
    public CheckpointHeader? Previous { get; private set; }

    /// <summary>Creates the file under a name, with both slots alike.</summary>
    public static void Create(IDisk disk, string name, CheckpointHeader header)
    {
        disk.Open(name, DiskOpen.New, DiskAccess.WriteThrough).Dispose();
        Fill(disk, name, header);
    }

    /// <summary>Writes both slots of a file that has none yet.</summary>
    public static void Fill(IDisk disk, string name, CheckpointHeader header)
    {
        using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
        file.Allocate(0, CheckpointHeader.Slots * JournalFormat.Block);
        file.Sync();
        using var checkpoints = new CheckpointFile(file);
        checkpoints.WriteSlot(0, header);
        checkpoints.WriteSlot(1, header);
        file.Sync();
    }

    /// <summary>Opens the file and reads its newer valid slot.</summary>
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="name">Of the file.</param>
    /// <param name="makesDurable">Makes what a killed process left visible durable, and reads what the device has then.</param>
    /// <exception cref="UnsupportedFormatException">It is no header file, or one of another version.</exception>
    /// <exception cref="CorruptionException">Neither slot is valid.</exception>
    public static CheckpointFile Open(IDisk disk, string name = FileName, bool makesDurable = false)
    {
        var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
        CheckpointFile? checkpoints = null;
        try
        {
            checkpoints = new CheckpointFile(file);
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
    /// A number for the next checkpoint, higher than any that a header or a flush has had. Its lowest 16 bits are not zero: in the
    /// journal's records they stand for the whole.
    /// </summary>
    public long TakeNumber()
    {
        do
            _lastNumber = Math.Max(_lastNumber, Current.CheckpointNumber) + 1;
        while ((ushort)_lastNumber == 0);
        return _lastNumber;
    }

    /// <summary>Takes back the number that was taken last.</summary>
    public void ReturnNumber(long number) => _lastNumber = Math.Min(_lastNumber, number - 1);

    /// <summary>Numbers up to this one have been taken.</summary>
    public void SkipTo(long number) => _lastNumber = Math.Max(_lastNumber, number);

    /// <summary>Writes the next checkpoint, with a number that was taken for it, into the older slot; durable when it returns.</summary>
    public void Write(CheckpointHeader header, long number)
    {
        header.CheckpointNumber = number;
        WriteSlot(_nextSlot, header);
        if (!PlantedFault.OneCheckpointSlot)
            _nextSlot = 1 - _nextSlot;
        Current = header;
    }

    /// <summary>Writes the current checkpoint into the older slot too: after a clean close, either will do.</summary>
    public void WriteBothAlike()
    {
        WriteSlot(_nextSlot, Current);
        _nextSlot = 1 - _nextSlot;
    }

    public void Dispose()
    {
        _file.Dispose();
        EngineMemory.FreeAligned(_block);
    }

    private void WriteSlot(int slot, CheckpointHeader header)
    {
        NativeMemory.Clear(_block, JournalFormat.Block);
        var target = (CheckpointHeader*)_block;
        *target = header;
        target->Magic = CheckpointHeader.FileMagic;
        target->Version = JournalFormat.Version;
        target->Checksum = BlockChecksum(_block);
        _file.Write(slot * JournalFormat.Block, new ReadOnlySpan<byte>(_block, JournalFormat.Block));
    }

    private void ReadSlots()
    {
        const int bytes = CheckpointHeader.Slots * JournalFormat.Block;
        if (_file.Length < bytes)
            throw new UnsupportedFormatException($"'{_file.Path}' is not the header file of an environment: it has {_file.Length} bytes, where there should be {bytes}.");

        var found = -1;
        var hasMagic = false;
        ulong magic = 0;
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            _file.Read(slot * JournalFormat.Block, new Span<byte>(_block, JournalFormat.Block));
            var header = (CheckpointHeader*)_block;
            magic = header->Magic;
            hasMagic |= magic == CheckpointHeader.FileMagic;
            if (header->Magic != CheckpointHeader.FileMagic || (header->Checksum != BlockChecksum(_block) && !PlantedFault.BelieveHeaders))
                continue;
            if (header->Version != JournalFormat.Version)
                throw new UnsupportedFormatException($"'{_file.Path}' has format version {header->Version}; this program knows version {JournalFormat.Version}.");
            if (found >= 0 && header->CheckpointNumber <= Current.CheckpointNumber)
            {
                Previous = *header;
                continue;
            }

            Previous = found >= 0 ? Current : null;
            found = slot;
            Current = *header;
        }

        if (found < 0)
        {
            throw hasMagic
                ? new CorruptionException($"Neither of the two copies of the header in '{_file.Path}' has a valid checksum.")
                : new UnsupportedFormatException(
                    $"'{_file.Path}' is not the header file of an environment: it begins with {magic:X16}, where {CheckpointHeader.FileMagic:X16} should be.");
        }

        if (StateStructure.FindFault(Current) is { } fault && !PlantedFault.BelieveStates)
            throw new CorruptionException($"The header in '{_file.Path}' has a valid checksum and yet {fault}.");
        _nextSlot = 1 - found;
    }

    private static ulong BlockChecksum(byte* block) => Checksum.Compute(block + 16, JournalFormat.Block - 16, CheckpointHeader.FileMagic);
}
