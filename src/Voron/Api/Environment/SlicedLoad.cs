using System.Buffers;
using Voron.Format;
using Voron.Loading;

namespace Voron;

/// <summary>Stores the entries of a bulk load in transactions of some megabytes, in a tree that has entries, or is recorded or compressed.</summary>
/// <remarks>
/// Entries are gathered before a transaction begins, so the writer is never held while the source runs. A crash, a failure or a cancellation leaves
/// the entries of the transactions so far, which are the first ones in key order. Loading again is right.
/// </remarks>
/// <param name="begin">Begins a write transaction.</param>
/// <param name="stage">Uploads a value that is too long to be sorted.</param>
/// <param name="name">The name of the tree.</param>
/// <param name="duplicates">What happens to a key that the tree has already.</param>
internal sealed class SlicedLoad(Func<WriteTransaction> begin, Func<byte[], StagedValue> stage, string name, DuplicateKeys duplicates) : OrderedLoad
{
    private const int SliceBytes = 4 << 20;

    private readonly ArrayBufferWriter<byte> _bytes = new();
    private readonly List<(int KeyLength, int ValueLength)> _entries = [];
    private readonly List<StagedValue> _staged = [];
    private long _passed;

    /// <inheritdoc/>
    public override bool IsAtomic => false;

    /// <inheritdoc/>
    public override long Passed => _passed;

    /// <inheritdoc/>
    public override void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (_bytes.WrittenCount + (long)key.Length + value.Length > SliceBytes)
            Store();
        if (value.Length > SliceBytes)
        {
            using var writing = begin();
            Store(writing.CreateTree(name), key, value);
            writing.Commit();
            return;
        }

        _bytes.Write(key);
        _bytes.Write(value);
        _entries.Add((key.Length, value.Length));
    }

    /// <inheritdoc/>
    public override LargeExtentReference? TryStore(ReadOnlySpan<byte> value, int mostSorted)
    {
        if (value.Length <= mostSorted)
            return null;
        _staged.Add(stage(value.ToArray()));
        return new LargeExtentReference { FirstPage = _staged.Count - 1, Length = value.Length };
    }

    /// <inheritdoc/>
    public override void AddStored(ReadOnlySpan<byte> key, LargeExtentReference value)
    {
        Store();
        using var staged = _staged[(int)value.FirstPage];
        using var writing = begin();
        var tree = writing.CreateTree(name);
        if (duplicates != DuplicateKeys.LastWins && tree.Contains(key))
        {
            Pass(key);
            return;
        }

        tree.Put(key, staged);
        writing.Commit();
    }

    /// <inheritdoc/>
    public override ValueTask CompleteAsync(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        Store();
        return ValueTask.CompletedTask;
    }

    public override void Dispose()
    {
        foreach (var value in _staged)
            value.Dispose();
    }

    private void Store()
    {
        if (_entries.Count == 0)
            return;
        using (var writing = begin())
        {
            var tree = writing.CreateTree(name);
            var at = 0;
            foreach (var (keyLength, valueLength) in _entries)
            {
                var key = _bytes.WrittenSpan.Slice(at, keyLength);
                Store(tree, key, _bytes.WrittenSpan.Slice(at + keyLength, valueLength));
                at += keyLength + valueLength;
            }

            writing.Commit();
        }

        _bytes.ResetWrittenCount();
        _entries.Clear();
    }

    private void Store(WriteTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (duplicates == DuplicateKeys.LastWins)
            tree.Put(key, value);
        else if (!tree.Insert(key, value))
            Pass(key);
    }

    private void Pass(ReadOnlySpan<byte> key)
    {
        if (duplicates == DuplicateKeys.Refuse)
            throw LoadErrors.Duplicate(key, name);
        _passed++;
    }
}
