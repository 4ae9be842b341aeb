namespace Voron.Tables;

/// <summary>The rows of a combination of id sets, in id order.</summary>
internal sealed class CombinedSource(IdQuery ids) : RowSource
{
    private bool _isBegun;

    public override ReadOnlySpan<byte> Key => default;

    public override bool MoveNext(bool isBackward, PageToken after)
    {
        if (isBackward)
            throw new InvalidOperationException("A combination of id sets returns rows in ascending order only.");
        var found = _isBegun || after.IsStart ? ids.MoveNext() : ids.Seek(after.RowId + 1);
        _isBegun = true;
        if (found)
            RowId = ids.Current;
        return found;
    }

    public override long Count()
    {
        if (_isBegun)
            throw new InvalidOperationException("Count the rows of a combination before reading them.");
        return ids.CountRest();
    }

    public override void Dispose() => ids.Dispose();
}
