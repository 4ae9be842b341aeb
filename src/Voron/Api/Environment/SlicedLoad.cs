using System.Buffers;
using Voron.Loading;

namespace Voron;

/// <summary>
/// Stores the entries of a bulk load in transactions of some megabytes, in a tree or a table that has entries or is recorded.
/// </summary>
/// <remarks>
/// Entries are gathered before a transaction begins, so the writer is never held while the source runs. A crash, a failure or a cancellation leaves
/// the entries of the transactions so far, which are the first ones in key order. Loading again is right.
/// </remarks>
/// <param name="begin">Begins a write transaction.</param>
/// <param name="target">What is loaded: the kind and the name.</param>
/// <param name="duplicates">What happens to a key that the target has already.</param>
internal abstract class SlicedLoad(Func<WriteTransaction> begin, string target, DuplicateKeys duplicates) : OrderedLoad
{
    private const int SliceBytes = 4 << 20;

    private readonly ArrayBufferWriter<byte> _bytes = new();
    private readonly List<(int KeyLength, int ValueLength)> _entries = [];
    private long _passed;

    // The id of what the first transaction has opened.
    private long _id = -1;

    /// <inheritdoc/>
    public override bool IsAtomic => false;

    /// <inheritdoc/>
    public override long Passed => _passed;

    /// <summary>True if an entry replaces the one that has its key.</summary>
    protected bool Replaces => duplicates == DuplicateKeys.LastWins;

    /// <inheritdoc/>
    public override void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (_bytes.WrittenCount + (long)key.Length + value.Length > SliceBytes)
            Store();
        if (value.Length > SliceBytes)
        {
            using var writing = begin();
            OpenTarget(writing);
            Store(key, value);
            writing.Commit();
            return;
        }

        _bytes.Write(key);
        _bytes.Write(value);
        _entries.Add((key.Length, value.Length));
    }

    /// <inheritdoc/>
    public override ValueTask CompleteAsync(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        Store();
        return ValueTask.CompletedTask;
    }

    /// <summary>Opens what is loaded, in a transaction.</summary>
    /// <exception cref="InvalidOperationException">It is not what earlier transactions have filled.</exception>
    protected void OpenTarget(WriteTransaction writing)
    {
        var id = Open(writing);
        if (_id >= 0 && id != _id)
            throw LoadErrors.Replaced(target);
        _id = id;
    }

    /// <summary>Opens what is loaded, in a transaction. Returns its id, which another one of the same name does not have.</summary>
    protected abstract long Open(WriteTransaction writing);

    /// <summary>Puts an entry into what was opened; false, with nothing put, if the key exists and is not replaced.</summary>
    protected abstract bool TryPut(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Stores the entries that were gathered.</summary>
    protected void Store()
    {
        if (_entries.Count == 0)
            return;
        using (var writing = begin())
        {
            OpenTarget(writing);
            var at = 0;
            foreach (var (keyLength, valueLength) in _entries)
            {
                Store(_bytes.WrittenSpan.Slice(at, keyLength), _bytes.WrittenSpan.Slice(at + keyLength, valueLength));
                at += keyLength + valueLength;
            }

            writing.Commit();
        }

        _bytes.ResetWrittenCount();
        _entries.Clear();
    }

    /// <summary>Notes an entry that is not stored, because its key exists.</summary>
    /// <exception cref="InvalidOperationException">The options refuse that.</exception>
    protected void Pass(ReadOnlySpan<byte> key)
    {
        if (duplicates == DuplicateKeys.Refuse)
            throw LoadErrors.Duplicate(key, target);
        _passed++;
    }

    private void Store(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!TryPut(key, value))
            Pass(key);
    }
}
