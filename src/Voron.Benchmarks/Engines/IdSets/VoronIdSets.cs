namespace Voron.Benchmarks.Engines.IdSets;

/// <summary>Id sets of Voron with default options.</summary>
internal sealed class VoronIdSets(string directory) : IdSetStore
{
    private const string TreeName = "words";

    private readonly StorageEnvironment _environment = StorageEnvironment.Open(directory);
    private WriteTransaction _write;
    private WriteIdTree _tree;

    public override long UsedBytes
    {
        get
        {
            using var reading = _environment.BeginRead();
            var size = reading.OpenIdTree(TreeName).GetStatistics();
            return (size.LeafPages + size.BranchPages + size.NestedPages) * _environment.GetStatistics().PageSize;
        }
    }

    public override void BeginWrite()
    {
        _write = _environment.BeginWrite();
        _tree = _write.CreateIdTree(TreeName);
    }

    public override void Add(ReadOnlySpan<byte> word, long id) => _tree.Add(word, id);

    public override void Commit() => _write.Commit();

    public override void Settle() => _environment.Flush();

    public override int Read(ReadOnlySpan<byte> word, Span<long> ids)
    {
        using var reading = _environment.BeginRead();
        using var set = reading.OpenIdTree(TreeName).OpenIds(word);
        return set.Fill(ids);
    }

    public override int ReadBoth(ReadOnlySpan<byte> word, ReadOnlySpan<byte> other, Span<long> ids)
    {
        using var reading = _environment.BeginRead();
        var tree = reading.OpenIdTree(TreeName);
        using var both = IdQuery.And(tree.Query(word), tree.Query(other));
        return both.Fill(ids);
    }

    public override void Dispose() => _environment.Dispose();
}
