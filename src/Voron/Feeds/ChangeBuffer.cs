using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Voron.Recording;

namespace Voron.Feeds;

/// <summary>The changes of a batch, and their bytes. Reused for each fill.</summary>
internal sealed class ChangeBuffer
{
    private const int BytesOfEntry = 64;

    private readonly List<ChangeEntry> _entries = [];
    private readonly Dictionary<uint, FeedSource> _sources = [];
    private byte[] _bytes = [];
    private long _time;
    private long _timeOf;

    public int Count => _entries.Count;

    private int FilledBytes { get; set; }

    /// <summary>Rises when the buffer is refilled, which invalidates all handles to its changes.</summary>
    public int Generation { get; private set; }

    /// <summary>The stamp of the feed.</summary>
    public long Stamp { get; private set; }

    /// <summary>Empties the buffer. The sources are kept, because a number always means the same source of a feed.</summary>
    public void Begin(long stamp)
    {
        if (stamp != Stamp)
        {
            _sources.Clear();
            _timeOf = 0;
        }

        Stamp = stamp;
        Generation++;
        _entries.Clear();
        FilledBytes = 0;
    }

    /// <summary>Returns the size that the buffer would have with another change.</summary>
    public long SizeWith(in ChangeRecord change) =>
        FilledBytes + (long)change.Key.Length + change.Old.Length + change.New.Length + BytesOfEntry * (long)(Count + 1);

    public bool TryGetSource(uint number, [NotNullWhen(true)] out FeedSource? source) => _sources.TryGetValue(number, out source);

    public void AddSource(uint number, FeedSource source) => _sources[number] = source;

    public void Add(long transactionId, uint ordinal, in ChangeRecord record, FeedSource source)
    {
        if (record.Time != 0)
            (_time, _timeOf) = (record.Time, transactionId);
        _entries.Add(new ChangeEntry
        {
            TransactionId = transactionId,
            Ordinal = ordinal,
            Operation = (ChangeOperation)record.Operation,
            Flags = record.Flags,
            Time = _timeOf == transactionId ? _time : 0,
            Source = source,
            Key = Copy(record.Key),
            Old = Copy(record.Old),
            New = Copy(record.New),
        });
    }

    /// <summary>Returns whether the time of a transaction is unknown.</summary>
    public bool WantsTime(long transactionId) => _timeOf != transactionId;

    public void NoteTime(long transactionId, long time) => (_time, _timeOf) = (time, transactionId);

    /// <summary>Keeps only the first changes.</summary>
    public void Cut(int count) => CollectionsMarshal.SetCount(_entries, count);

    /// <summary>Returns the position after the last change.</summary>
    public ChangePosition End() => new(_entries[^1].TransactionId, _entries[^1].Ordinal, Stamp);

    public ref readonly ChangeEntry EntryAt(int index, int generation)
    {
        if (generation != Generation)
            throw new ObjectDisposedException("change", "The change has ended. Its batch has been refilled: copy what you need before that.");
        return ref CollectionsMarshal.AsSpan(_entries)[index];
    }

    public ReadOnlySpan<byte> Bytes(ChangeEntry.Place place) => _bytes.AsSpan(place.Start, place.Length);

    private ChangeEntry.Place Copy(ReadOnlySpan<byte> bytes)
    {
        if (_bytes.Length - FilledBytes < bytes.Length)
            Array.Resize(ref _bytes, (int)Math.Max(FilledBytes + bytes.Length, Math.Min(2L * _bytes.Length, Array.MaxLength)));
        bytes.CopyTo(_bytes.AsSpan(FilledBytes));
        var place = new ChangeEntry.Place(FilledBytes, bytes.Length);
        FilledBytes += bytes.Length;
        return place;
    }
}
