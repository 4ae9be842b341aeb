namespace Voron.Benchmarks.Engines.ValueSets;

/// <summary>Value sets of Voron with default options.</summary>
internal sealed class VoronValueSets(string directory) : ValueSetStore
{
    private const string TreeName = "words";

    private readonly StorageEnvironment _environment = StorageEnvironment.Open(directory);
    private WriteTransaction _write;
    private WriteValueSetTree _tree;

    public override long UsedBytes
    {
        get
        {
            using var reading = _environment.BeginRead();
            var size = reading.OpenValueSetTree(TreeName).GetStatistics();
            return (size.LeafPages + size.BranchPages + size.NestedPages) * _environment.GetStatistics().PageSize;
        }
    }

    public override void BeginWrite()
    {
        _write = _environment.BeginWrite();
        _tree = _write.CreateValueSetTree(TreeName);
    }

    public override void Add(ReadOnlySpan<byte> word, ReadOnlySpan<byte> value) => _tree.Add(word, value);

    public override void Commit() => _write.Commit();

    public override void Settle() => _environment.Flush();

    public override int Read(ReadOnlySpan<byte> word, ref ulong checksum)
    {
        using var reading = _environment.BeginRead();
        using var values = reading.OpenValueSetTree(TreeName).OpenValues(word);
        var count = 0;
        for (; values.MoveNext(); count++)
            AddTo(ref checksum, values.Value);
        return count;
    }

    public override int CountKnown(ReadOnlySpan<(byte[] Word, byte[] Value)> pairs)
    {
        using var reading = _environment.BeginRead();
        var tree = reading.OpenValueSetTree(TreeName);
        var known = 0;
        foreach (var (word, value) in pairs)
            known += tree.Contains(word, value) ? 1 : 0;
        return known;
    }

    public override void Dispose() => _environment.Dispose();
}
