namespace Voron;

/// <summary>Loads entries into a tree in slices.</summary>
/// <param name="begin">Begins a write transaction.</param>
/// <param name="stage">Uploads a value that is too long to be sorted.</param>
/// <param name="name">The name of the tree.</param>
/// <param name="duplicates">What happens to a key that the tree has already.</param>
internal sealed class TreeSlices(Func<WriteTransaction> begin, Func<byte[], StagedValue> stage, string name, DuplicateKeys duplicates)
    : SlicedLoad(begin, $"tree '{name}'", duplicates)
{
    private readonly Func<WriteTransaction> _begin = begin;
    private readonly List<StagedValue> _staged = [];
    private WriteTree _tree;

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted)
    {
        if (value.Length <= mostSorted)
            return default;
        _staged.Add(stage(value.ToArray()));
        return BitConverter.GetBytes(_staged.Count - 1);
    }

    /// <inheritdoc/>
    public override void AddStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference)
    {
        Store();
        using var staged = _staged[BitConverter.ToInt32(reference)];
        using var writing = _begin();
        OpenTarget(writing);
        if (!Replaces && _tree.Contains(key))
        {
            Pass(key);
            return;
        }

        _tree.Put(key, staged);
        writing.Commit();
    }

    public override void Dispose()
    {
        foreach (var value in _staged)
            value.Dispose();
        base.Dispose();
    }

    /// <inheritdoc/>
    protected override long Open(WriteTransaction writing)
    {
        _tree = writing.CreateTree(name);
        return _tree.AsReadOnly().Opened.StateAsIs.TreeId;
    }

    /// <inheritdoc/>
    protected override bool TryPut(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!Replaces)
            return _tree.Insert(key, value);
        _tree.Put(key, value);
        return true;
    }
}
