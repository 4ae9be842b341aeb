using System.Diagnostics.CodeAnalysis;

namespace Voron.Feeds;

/// <summary>Changes copied from a feed. A batch can be refilled any number of times without taking more memory.</summary>
/// <remarks>For one thread at a time.</remarks>
[SuppressMessage("Naming", "CA1710", Justification = "A batch is what it is, and can be enumerated.")]
public sealed class ChangeBatch
{
    /// <summary>The default size of a batch in bytes: 256 KiB.</summary>
    public const int DefaultMaxBytes = 256 << 10;

    /// <summary>The maximum of <see cref="MaxBytes"/>: 256 MiB.</summary>
    public const int LargestMaxBytes = 256 << 20;

    /// <param name="maxBytes">
    /// The number of bytes up to which a batch combines whole transactions, counting 64 more bytes for each change. A batch contains at least one
    /// change, however long.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="maxBytes"/> is less than 1 or above <see cref="LargestMaxBytes"/>.
    /// </exception>
    public ChangeBatch(int maxBytes = DefaultMaxBytes)
    {
        CheckBytes(maxBytes, nameof(maxBytes));
        MaxBytes = maxBytes;
    }

    /// <summary>The number of bytes up to which whole transactions are combined.</summary>
    public int MaxBytes { get; }

    /// <summary>The number of changes.</summary>
    public int Count => Buffer.Count;

    /// <summary>
    /// True if the batch ends at the end of a transaction. False if it is part of a transaction that is larger than the batch: the rest follows.
    /// </summary>
    public bool IsTransactionComplete { get; private set; } = true;

    /// <summary>The position after the last change, at which the next batch begins.</summary>
    public ChangePosition Position { get; private set; }

    /// <summary>Returns a change.</summary>
    /// <param name="index">Its index in the batch, from 0.</param>
    /// <exception cref="ArgumentOutOfRangeException">The batch has fewer changes.</exception>
    public Change this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
            return new Change(Buffer, index, Buffer.Generation);
        }
    }

    /// <summary>Enumerates the changes in their order.</summary>
    public Enumerator GetEnumerator() => new(this);

    /// <summary>Returns the number of changes and the position.</summary>
    public override string ToString() => $"{Count} changes up to {Position}{(IsTransactionComplete ? "" : ", inside of a transaction")}";

    internal ChangeBuffer Buffer { get; } = new();

    internal static void CheckBytes(int bytes, string parameter)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes, 1, parameter);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(bytes, LargestMaxBytes, parameter);
    }

    internal void Begin(ChangePosition after)
    {
        Buffer.Begin(after.Stamp);
        Position = after;
        IsTransactionComplete = true;
    }

    /// <summary>Ends the batch, and keeps only its first changes.</summary>
    internal void End(int count, bool isTransactionComplete)
    {
        Buffer.Cut(count);
        IsTransactionComplete = isTransactionComplete;
        if (count > 0)
            Position = Buffer.End();
    }

    /// <summary>Enumerates the changes of a batch.</summary>
    [SuppressMessage("Design", "CA1034", Justification = "The form of enumerators of the framework's collections.")]
    public struct Enumerator
    {
        private readonly ChangeBuffer _buffer;
        private readonly int _generation;
        private int _index;

        internal Enumerator(ChangeBatch batch)
        {
            _buffer = batch.Buffer;
            _generation = _buffer.Generation;
            _index = -1;
        }

        /// <summary>The change.</summary>
        public readonly Change Current => new(_buffer, _index, _generation);

        /// <summary>Moves to the next change; false at the end.</summary>
        /// <exception cref="ObjectDisposedException">The batch has been refilled.</exception>
        public bool MoveNext()
        {
            if (_generation != _buffer.Generation)
                throw new ObjectDisposedException("change batch", "The enumeration has ended. Its batch has been filled with the next changes.");
            return ++_index < _buffer.Count;
        }
    }
}
