using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Recording;
using Voron.Trees;

namespace Voron.Feeds;

/// <summary>A change in a feed.</summary>
/// <remarks>
/// A handle to a change in a <see cref="ChangeBatch"/>. It and its spans are valid until the batch is refilled: in an enumeration, until the next
/// batch is requested.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct Change
{
    private readonly ChangeBuffer _buffer;
    private readonly int _index;
    private readonly int _generation;

    internal Change(ChangeBuffer buffer, int index, int generation)
    {
        _buffer = buffer;
        _index = index;
        _generation = generation;
    }

    /// <summary>The kind of the change.</summary>
    /// <exception cref="ObjectDisposedException">The batch has been refilled.</exception>
    public ChangeOperation Operation => Entry.Operation;

    /// <summary>The tree or table that was changed.</summary>
    /// <inheritdoc cref="Operation"/>
    public FeedSource Source => Entry.Source;

    /// <summary>The transaction that made the change.</summary>
    /// <inheritdoc cref="Operation"/>
    public long TransactionId => Entry.TransactionId;

    /// <summary>The time of the transaction in UTC; null if it is unknown, because the feed was cut within the transaction.</summary>
    /// <inheritdoc cref="Operation"/>
    public DateTime? Time => Entry.Time == 0 ? null : new DateTime(Entry.Time, DateTimeKind.Utc);

    /// <summary>The position after the change.</summary>
    /// <inheritdoc cref="Operation"/>
    public ChangePosition Position => new(Entry.TransactionId, Entry.Ordinal, _buffer.Stamp);

    /// <summary>
    /// The key in the tree, or the primary key of the row as the table's <see cref="Tables.IKeyCodec{TKey}"/> has written it. Empty for a change that
    /// does not concern a single key.
    /// </summary>
    /// <inheritdoc cref="Operation"/>
    public ReadOnlySpan<byte> Key => Operation == ChangeOperation.DeleteRange ? default : _buffer.Bytes(Entry.Key);

    /// <summary>True if the change contains the new value or row.</summary>
    /// <inheritdoc cref="Operation"/>
    public bool HasNewValue => Operation < ChangeOperation.Delete && (Entry.Flags & ChangeRecord.HasNew) != 0;

    /// <summary>The new value, or the bytes of the new row; empty if the change does not contain it.</summary>
    /// <inheritdoc cref="Operation"/>
    public ReadOnlySpan<byte> NewValue => HasNewValue ? _buffer.Bytes(Entry.New) : default;

    /// <summary>
    /// True if the feed records new values, but not this one: it is longer than <see cref="FeedOptions.MaxValueBytes"/>, or bypassed the journal as a
    /// stream or a staged value. A consumer reads the value from the tree, which may have changed since.
    /// </summary>
    /// <inheritdoc cref="Operation"/>
    public bool IsNewValueLeftOut => (Entry.Flags & ChangeRecord.LeavesOutNew) != 0;

    /// <summary>True if the change contains the old row.</summary>
    /// <inheritdoc cref="Operation"/>
    public bool HasOldValue => (Entry.Flags & ChangeRecord.HasOld) != 0;

    /// <summary>The bytes of the row before the change; empty if the change does not contain them.</summary>
    /// <inheritdoc cref="Operation"/>
    public ReadOnlySpan<byte> OldValue => HasOldValue ? _buffer.Bytes(Entry.Old) : default;

    /// <summary>True if the feed records old rows, but not this one, because it is longer than <see cref="FeedOptions.MaxValueBytes"/>.</summary>
    /// <inheritdoc cref="Operation"/>
    public bool IsOldValueLeftOut => (Entry.Flags & ChangeRecord.LeavesOutOld) != 0;

    /// <summary>The keys that a <see cref="ChangeOperation.DeleteRange"/> has removed; an empty range for other changes.</summary>
    /// <inheritdoc cref="Operation"/>
    public KeyRange Range
    {
        get
        {
            if (Operation != ChangeOperation.DeleteRange)
                return default;
            var first = _buffer.Bytes(Entry.Key);
            return (Entry.Flags & ChangeRecord.HasNew) != 0 ? KeyRange.From(first).Before(_buffer.Bytes(Entry.New)) : KeyRange.From(first);
        }
    }

    /// <summary>The new name of the source in a <see cref="ChangeOperation.SourceRenamed"/>; null for other changes.</summary>
    /// <inheritdoc cref="Operation"/>
    public string? NewName => Operation == ChangeOperation.SourceRenamed ? System.Text.Encoding.UTF8.GetString(_buffer.Bytes(Entry.New)) : null;

    internal ref readonly ChangeEntry Entry => ref Buffer.EntryAt(_index, _generation);

    private ChangeBuffer Buffer
    {
        get
        {
            if (_buffer == null)
                ThrowDefault();
            return _buffer;
        }
    }

    [DoesNotReturn]
    private static void ThrowDefault() => throw new InvalidOperationException(
        "This change was never begun or opened: it is a default value. ReadChanges returns one that can be used.");

    /// <summary>Describes the change without its values.</summary>
    public override string ToString() => _buffer == null || _buffer.Generation != _generation
        ? "(ended)"
        : $"{Position}: {Operation} {Source}" + (Operation == ChangeOperation.DeleteRange ? $" {Range.ToString()}" : Key.IsEmpty ? "" : $" {KeyText.Of(Key)}");
}
