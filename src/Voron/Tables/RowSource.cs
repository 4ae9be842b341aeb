namespace Voron.Tables;

/// <summary>Where a query finds the ids of its rows: an index, the rows themselves, or a combination of id sets.</summary>
internal abstract class RowSource : IDisposable
{
    private byte[] _key = new byte[32];
    private int _keyLength;

    /// <summary>The id of the row.</summary>
    public long RowId { get; protected set; }

    /// <summary>The key that led to the row: a copy, valid until the next move.</summary>
    public ReadOnlySpan<byte> Key => _key.AsSpan(0, _keyLength);

    /// <summary>True if the source has the rows at hand, and not only their ids.</summary>
    public virtual bool HasRows => false;

    /// <summary>Gets the row if the source has it at hand.</summary>
    public virtual bool TryGetRow(out ReadOnlySpan<byte> row)
    {
        row = default;
        return false;
    }

    /// <summary>Goes to the next row, or to the first one; false at the end.</summary>
    /// <param name="isBackward">True to go in descending order. The same for each call.</param>
    /// <param name="after">Where the first call begins; the default for the start of the range.</param>
    public abstract bool MoveNext(bool isBackward, PageToken after);

    /// <summary>Counts all entries of the range.</summary>
    public abstract long Count();

    public abstract void Dispose();

    protected void SetKey(ReadOnlySpan<byte> key)
    {
        if (_key.Length < key.Length)
            _key = new byte[Math.Max(key.Length, 2 * _key.Length)];
        key.CopyTo(_key);
        _keyLength = key.Length;
    }
}
