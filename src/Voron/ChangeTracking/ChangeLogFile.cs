using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Testing;

namespace Voron.ChangeTracking;

/// <summary>The position of an entry in a change log file, and its header.</summary>
/// <param name="Header">The header.</param>
/// <param name="Offset">The offset of the entry in the file.</param>
internal readonly record struct ChangeLogPlace(ChangeLogEntry Header, long Offset)
{
    /// <summary>The bytes of the entry in the file, including the zeros at its end.</summary>
    public long Bytes => LengthOf(Header.PayloadBytes);

    public long End => Offset + Bytes;

    /// <summary>The bytes of an entry in the file.</summary>
    public static long LengthOf(long payloadBytes) => JournalFormat.AlignUp(ChangeLogEntry.Size + payloadBytes);
}

/// <summary>A file of the change log: entries one after the other, from offset 0 on. Used under the lock of the log.</summary>
/// <remarks>
/// Each entry is written with one write, and is durable when that returns. The file has no header, and may be longer than its entries.
/// </remarks>
internal sealed unsafe class ChangeLogFile : IDisposable
{
    private const string Prefix = "changes-";
    private const string Suffix = ".voron";
    private const string UnfinishedSuffix = ".new";

    private const int GrowthBytes = 64 << 10;

    private readonly ulong _seed;
    private DiskFile _file;
    private readonly List<ChangeLogPlace> _entries = [];
    private long _allocated;

    private ChangeLogFile(DiskFile file, RandomId environmentId)
    {
        _file = file;
        _seed = Checksum.Seed(environmentId, (long)ChangeLogEntry.MarkerValue);
    }

    private const DiskAccess Access = DiskAccess.WriteThrough;

    public string Path => _file.Path;

    /// <summary>The entries that count, in order.</summary>
    public IReadOnlyList<ChangeLogPlace> Entries => _entries;

    /// <summary>The offset after the last entry.</summary>
    public long End => _entries.Count == 0 ? 0 : _entries[^1].End;

    public static string NameOf(long number) => NumberedName.Of(Prefix, number, Suffix);

    /// <summary>Returns the number in the name of a change log, or -1.</summary>
    public static long NumberOf(string name) => NumberedName.Parse(name, Prefix, Suffix);

    /// <summary>Creates a file without entries. Its name is durable after the directory has been synced.</summary>
    /// <exception cref="DiskException">The file cannot be created.</exception>
    public static ChangeLogFile Create(IDisk disk, long number, RandomId environmentId) =>
        new(disk.Open(NameOf(number), DiskOpen.New, Access), environmentId);

    /// <summary>Creates a file that replaces another one when it is finished. Its content is durable by then; before, it has no number.</summary>
    /// <exception cref="DiskException">The file cannot be created.</exception>
    public static ChangeLogFile CreateUnfinished(IDisk disk, long number, RandomId environmentId)
    {
        var name = NameOf(number) + UnfinishedSuffix;
        if (disk.List().Any(entry => entry.Name == name))
            disk.Delete(name);
        return new(disk.Open(name, DiskOpen.New, DiskAccess.Unbuffered), environmentId);
    }

    /// <summary>Opens and reads the file that contains the entry named by the header file.</summary>
    /// <returns>Null if there is none.</returns>
    /// <exception cref="DiskException">The directory cannot be listed.</exception>
    public static ChangeLogFile? Find(IDisk disk, RandomId environmentId, in ChangeLogTarget target, out long number)
    {
        foreach (var found in Numbers(disk).OrderDescending())
        {
            if (TryOpen(disk, found, environmentId, target) is not { } file)
                continue;
            number = found;
            return file;
        }

        number = 0;
        return null;
    }

    /// <summary>
    /// Opens a file for inspection, and reads its consecutive entries, whether they count or not. Writes nothing, not even bytes that another
    /// process has left in the page cache.
    /// </summary>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    public static ChangeLogFile OpenToInspect(IDisk disk, long number, RandomId environmentId, RandomId lineage)
    {
        var file = new ChangeLogFile(disk.Open(NameOf(number), DiskOpen.Existing, DiskAccess.WriteThrough), environmentId);
        try
        {
            while (file.TryReadNext(lineage, out var place))
                file._entries.Add(place);
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>The length of the file in bytes.</summary>
    /// <exception cref="DiskException">It cannot be read.</exception>
    public long Length => _file.Length;

    /// <summary>Gives a file that was begun as an unfinished one its number, durably.</summary>
    /// <exception cref="DiskException">The file is not finished.</exception>
    public void Finish(IDisk disk, long number)
    {
        _file.Sync();
        _file.Dispose();
        var name = NameOf(number);
        disk.Rename(name + UnfinishedSuffix, name);
        disk.SyncDirectory();
        _file = disk.Open(name, DiskOpen.Existing, Access);
    }

    /// <summary>Deletes an unfinished file. One that cannot be deleted stays, without harm.</summary>
    public static void TryDeleteUnfinished(IDisk disk, long number) => OwnFile.TryDelete(disk, NameOf(number) + UnfinishedSuffix);

    /// <summary>Allocates space for that many bytes.</summary>
    /// <exception cref="DiskException">There is not enough space.</exception>
    public void Reserve(long bytes)
    {
        if (bytes <= _allocated)
            return;
        var length = DiskRules.RoundUp(bytes, GrowthBytes);
        _file.Allocate(_allocated, length - _allocated);
        _file.Sync();
        _allocated = length;
    }

    /// <summary>Returns the numbers of the files in a directory that have the name of a change log.</summary>
    public static List<long> Numbers(IDisk disk) => disk.List().Select(entry => NumberOf(entry.Name)).Where(number => number > 0).ToList();

    /// <summary>Deletes the files with other numbers that begin like a change log, or are still empty.</summary>
    public static void DeleteOthers(IDisk disk, List<long> numbers, long number)
    {
        foreach (var other in numbers)
        {
            if (other != number && OwnFile.IsBegun(disk, NameOf(other), ChangeLogEntry.MarkerValue))
                TryDelete(disk, other);
        }
    }

    /// <summary>Deletes a file of the log. One that cannot be deleted stays, without harm.</summary>
    public static void TryDelete(IDisk disk, long number) => OwnFile.TryDelete(disk, NameOf(number));

    /// <summary>Reads the entries that count: those up to the one that the header file names, and those added since without a flush.</summary>
    /// <param name="target">The description of the log in the header file.</param>
    /// <returns>False if the file does not contain the entry, or one before it is missing or damaged.</returns>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    private bool TryRead(in ChangeLogTarget target)
    {
        // A killed process may have left bytes in the page cache that are not on the device.
        _file.Sync();
        _file.DropCache();
        _entries.Clear();
        var isNamed = false;
        while (TryReadNext(target.Lineage, out var place) && (!isNamed || target.CountsBehindNamed(place.Header)))
        {
            _entries.Add(place);
            isNamed |= target.IsNamed(place.Header);
        }

        isNamed |= PlantedFault.BelieveForeignLog && _entries.Count > 0;
        if (!isNamed)
            _entries.Clear();
        return isNamed;
    }

    // Reads the entry after the last one, if a complete entry follows it.
    private bool TryReadNext(RandomId lineage, out ChangeLogPlace place)
    {
        var isThere = TryReadHeader(End, out var header) && Follows(header, lineage);
        place = new ChangeLogPlace(header, End);
        return isThere && TryUse(place, static (in ChangeLogEntry _, ReadOnlySpan<byte> _) => true, out _);
    }

    /// <summary>Passes the content of an entry to a function.</summary>
    /// <returns>False if the entry is damaged.</returns>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    public bool TryUse<TResult>(in ChangeLogPlace place, UseContent<TResult> use, out TResult? result)
    {
        var length = (int)place.Header.PayloadBytes;
        return TryUse(place, entry => use(*(ChangeLogEntry*)entry, new ReadOnlySpan<byte>(entry + ChangeLogEntry.Size, length)), out result);
    }

    private bool TryUse<TResult>(in ChangeLogPlace place, UseEntry<TResult> use, out TResult? result)
    {
        var bytes = (byte*)EngineMemory.AllocateAligned((nuint)place.Bytes, JournalFormat.Block);
        try
        {
            _file.Read(place.Offset, new Span<byte>(bytes, checked((int)place.Bytes)));
            var header = *(ChangeLogEntry*)bytes;
            if (header.Checksum != place.Header.Checksum || header.PayloadBytes != place.Header.PayloadBytes || ChecksumOf(bytes) != header.Checksum)
            {
                result = default;
                return false;
            }

            result = use(bytes);
            return true;
        }
        finally
        {
            EngineMemory.FreeAligned(bytes);
        }
    }

    /// <summary>Appends an entry, which is durable when this method returns.</summary>
    /// <param name="header">
    /// The header, without marker, checksum and nonce, and without sequence and previous checksum if there is an entry before.
    /// </param>
    /// <param name="fill">Fills the content.</param>
    /// <returns>The checksum.</returns>
    /// <exception cref="DiskException">The entry could not be written. The next one takes its place.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory for it.</exception>
    public ulong Append(ChangeLogEntry header, FillContent fill)
    {
        header.Marker = ChangeLogEntry.MarkerValue;
        header.Nonce = RandomId.New().Lower;
        if (_entries.Count > 0)
        {
            var last = _entries[^1].Header;
            header.Sequence = last.Sequence + 1;
            header.Previous = last.Identity;
        }

        var length = ChangeLogPlace.LengthOf(header.PayloadBytes);

        // Ensured first, so that a written entry is always recorded.
        _entries.EnsureCapacity(_entries.Count + 1);
        var bytes = (byte*)EngineMemory.AllocateAligned((nuint)length, JournalFormat.Block);
        try
        {
            NativeMemory.Clear(bytes, (nuint)length);
            fill(new Span<byte>(bytes + ChangeLogEntry.Size, checked((int)header.PayloadBytes)));
            *(ChangeLogEntry*)bytes = header;
            header.Checksum = ((ChangeLogEntry*)bytes)->Checksum = ChecksumOf(bytes);
            Write(End, new ReadOnlySpan<byte>(bytes, (int)length));
        }
        finally
        {
            EngineMemory.FreeAligned(bytes);
        }

        _entries.Add(new ChangeLogPlace(header, End));
        return header.Checksum;
    }

    /// <summary>Appends an entry of another file, byte for byte.</summary>
    /// <returns>False if the entry is damaged.</returns>
    /// <inheritdoc cref="Append"/>
    public bool TryCopy(ChangeLogFile source, in ChangeLogPlace place)
    {
        Debug.Assert(
            _entries.Count == 0 || Follows(place.Header, place.Header.Lineage), "Copied entries must follow on those before them.");
        var offset = End;
        var length = checked((int)place.Bytes);
        _entries.EnsureCapacity(_entries.Count + 1);
        var isWhole = source.TryUse(
            place,
            entry =>
            {
                Write(offset, new ReadOnlySpan<byte>(entry, length));
                return true;
            },
            out _);
        if (isWhole)
            _entries.Add(place with { Offset = offset });
        return isWhole;
    }

    private delegate TResult UseEntry<out TResult>(byte* entry);

    public void Dispose() => _file.Dispose();

    // The length of the file is durable before anything is written there. The last entry is followed by zeros, or by an entry that does not count
    // and that the next one overwrites.
    private void Write(long offset, ReadOnlySpan<byte> bytes)
    {
        var end = offset + bytes.Length;
        if (_allocated == 0)
            _allocated = _file.Length;
        Reserve(end);
        _file.Write(offset, bytes);
    }

    // A file that cannot be read is not the log: another one may be.
    private static ChangeLogFile? TryOpen(IDisk disk, long number, RandomId environmentId, in ChangeLogTarget target)
    {
        ChangeLogFile? file = null;
        try
        {
            file = new ChangeLogFile(disk.Open(NameOf(number), DiskOpen.Existing, Access), environmentId);
            if (file.TryRead(target))
                return file;
        }
        catch (DiskException)
        {
            // Reported as missing if no other file is the log.
        }
        catch
        {
            file?.Dispose();
            throw;
        }

        file?.Dispose();
        return null;
    }

    private bool Follows(in ChangeLogEntry header, RandomId lineage)
    {
        if (header.Lineage != lineage)
            return false;
        if (_entries.Count == 0)
            return true;
        var last = _entries[^1].Header;
        return header.Sequence == last.Sequence + 1 && header.Previous == last.Identity && header.From <= last.Checkpoint;
    }

    private bool TryReadHeader(long offset, out ChangeLogEntry header)
    {
        header = default;
        var length = _file.Length;
        if (offset > length - JournalFormat.Block)
            return false;
        var block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
        try
        {
            _file.Read(offset, new Span<byte>(block, JournalFormat.Block));
            header = *(ChangeLogEntry*)block;
        }
        finally
        {
            EngineMemory.FreeAligned(block);
        }

        return header.Marker == ChangeLogEntry.MarkerValue
            && header.Kind is >= ChangeLogEntryKind.Start and <= ChangeLogEntryKind.Points
            && header.PayloadBytes is >= 0 and <= ChangeLogEntry.MaxPayloadBytes
            && ChangeLogPlace.LengthOf(header.PayloadBytes) <= length - offset
            && StateStructure.IsNumber(header.Sequence) && StateStructure.IsNumber(header.From) && StateStructure.IsNumber(header.To)
            && StateStructure.IsNumber(header.Checkpoint) && StateStructure.IsNumber(header.Count);
    }

    private ulong ChecksumOf(byte* entry) => Checksum.Compute(
        entry + ChangeLogEntry.ChecksummedFrom,
        (nuint)(ChangeLogEntry.Size - ChangeLogEntry.ChecksummedFrom + ((ChangeLogEntry*)entry)->PayloadBytes), _seed);
}

/// <summary>The description of the change log in the header file.</summary>
/// <param name="Named">The checksum of the entry that it names.</param>
/// <param name="Checkpoint">The transaction of the checkpoint.</param>
/// <param name="Snapshot">The transaction of the journal snapshot; 0 if there is none.</param>
/// <param name="Lineage">The lineage of the environment.</param>
internal readonly record struct ChangeLogTarget(ulong Named, long Checkpoint, long Snapshot, RandomId Lineage)
{
    /// <summary>
    /// Returns whether an entry is the one that is named. An engine that does not know the log keeps the name when it moves the checkpoint, or
    /// writes a journal snapshot: the entry then no longer matches them.
    /// </summary>
    public bool IsNamed(in ChangeLogEntry entry) =>
        entry.Checksum == Named && entry.Checkpoint == Checkpoint && entry.To >= Snapshot;

    /// <summary>
    /// Returns whether an entry counts that follows the named one, directly or after others that count: whether it was added since without a flush.
    /// </summary>
    public bool CountsBehindNamed(in ChangeLogEntry entry) =>
        entry.Kind is not (ChangeLogEntryKind.Flush or ChangeLogEntryKind.Start) && entry.Checkpoint == Checkpoint;
}

/// <summary>Uses the content of an entry, which is valid during the call.</summary>
internal delegate TResult UseContent<out TResult>(in ChangeLogEntry header, ReadOnlySpan<byte> content);

/// <summary>Fills the content of an entry.</summary>
internal delegate void FillContent(Span<byte> content);
