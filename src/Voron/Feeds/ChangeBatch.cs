using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Voron.Recording;

namespace Voron.Feeds;

/// <summary>Changes of a feed, copied out of it. Can be filled again and again, without taking more memory.</summary>
/// <remarks>For one thread at a time.</remarks>
[SuppressMessage("Naming", "CA1710", Justification = "A batch is what it is, and can be enumerated.")]
public sealed class ChangeBatch
{
    /// <summary>The size in bytes of a batch if no other is given: 256 KiB.</summary>
    public const int DefaultMaxBytes = 256 << 10;

    private readonly List<ChangeEntry> _entries = [];
    private readonly Dictionary<uint, FeedSource> _sources = [];
    private byte[] _buffer = [];
    private int _filled;
    private int _generation;
    private long _time;
    private long _timeOf;

    /// <param name="maxBytes">
    /// The number of bytes up to which whole transactions are put together. A batch has at least one change, however long that is.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxBytes"/> is less than 1.</exception>
    public ChangeBatch(int maxBytes = DefaultMaxBytes)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxBytes, 1);
        MaxBytes = maxBytes;
    }

    /// <summary>The number of bytes up to which whole transactions are put together.</summary>
    public int MaxBytes { get; }

    /// <summary>The number of changes.</summary>
    public int Count => _entries.Count;

    /// <summary>
    /// True if the batch ends with the end of a transaction. False if it is a part of one transaction that is larger than the batch: the rest follows.
    /// </summary>
    public bool IsTransactionComplete { get; private set; } = true;

    /// <summary>The position behind the last change: the next batch begins there.</summary>
    public ChangePosition Position { get; private set; }

    /// <summary>Returns a change.</summary>
    /// <param name="index">Its place in the batch, from 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">The batch has fewer changes.</exception>
    public Change this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
            return new Change(this, index, _generation);
        }
    }

    /// <summary>Enumerates the changes in their order.</summary>
    public Enumerator GetEnumerator() => new(this);

    internal int FilledBytes => _filled;

    /// <summary>Empties the batch. The sources stay, because a number always means the same source of a feed.</summary>
    internal void Begin(ChangePosition after)
    {
        if (after.Stamp != Position.Stamp)
            _sources.Clear();
        _generation++;
        _entries.Clear();
        _filled = 0;
        Position = after;
        IsTransactionComplete = true;
    }

    internal bool TryGetSource(uint number, [NotNullWhen(true)] out FeedSource? source) => _sources.TryGetValue(number, out source);

    internal void AddSource(uint number, FeedSource source) => _sources[number] = source;

    internal void Add(long transactionId, uint ordinal, in ChangeRecord record, FeedSource source)
    {
        if (record.Time != 0)
            (_time, _timeOf) = (record.Time, transactionId);
        _entries.Add(new ChangeEntry
        {
            TransactionId = transactionId,
            Ordinal = ordinal,
            Operation = record.Operation,
            Flags = record.Flags,
            Time = _timeOf == transactionId ? _time : 0,
            Source = source,
            Key = Copy(record.Key),
            Old = Copy(record.Old),
            New = Copy(record.New),
        });
    }

    /// <summary>Ends the batch with its first changes.</summary>
    internal void End(int count, bool isTransactionComplete)
    {
        CollectionsMarshal.SetCount(_entries, count);
        IsTransactionComplete = isTransactionComplete;
        if (count > 0)
            Position = new ChangePosition(_entries[^1].TransactionId, _entries[^1].Ordinal, Position.Stamp);
    }

    internal void RemoveLast() => CollectionsMarshal.SetCount(_entries, Count - 1);

    internal bool IsCurrent(int generation) => generation == _generation;

    internal ref readonly ChangeEntry EntryAt(int index, int generation)
    {
        if (generation != _generation)
            throw new ObjectDisposedException("change", "The change has ended. Its batch has been filled with the next changes: copy what you need before.");
        return ref CollectionsMarshal.AsSpan(_entries)[index];
    }

    internal ReadOnlySpan<byte> Bytes(ChangeEntry.Place place) => _buffer.AsSpan(place.Start, place.Length);

    private ChangeEntry.Place Copy(ReadOnlySpan<byte> bytes)
    {
        if (_buffer.Length - _filled < bytes.Length)
            Array.Resize(ref _buffer, Math.Max(checked(_filled + bytes.Length), Math.Min(2 * _buffer.Length, Array.MaxLength)));
        bytes.CopyTo(_buffer.AsSpan(_filled));
        var place = new ChangeEntry.Place(_filled, bytes.Length);
        _filled += bytes.Length;
        return place;
    }

    /// <summary>Enumerates the changes of a batch.</summary>
    [SuppressMessage("Design", "CA1034", Justification = "The form of enumerators of the framework's collections.")]
    public struct Enumerator
    {
        private readonly ChangeBatch _batch;
        private readonly int _generation;
        private int _index;

        internal Enumerator(ChangeBatch batch)
        {
            _batch = batch;
            _generation = batch._generation;
            _index = -1;
        }

        /// <summary>The change.</summary>
        public readonly Change Current => new(_batch, _index, _generation);

        /// <summary>Goes to the next change; false at the end.</summary>
        /// <exception cref="ObjectDisposedException">The batch has been filled again.</exception>
        public bool MoveNext()
        {
            if (_generation != _batch._generation)
                throw new ObjectDisposedException("change batch", "The enumeration has ended. Its batch has been filled with the next changes.");
            return ++_index < _batch.Count;
        }
    }
}
