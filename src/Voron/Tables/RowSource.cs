namespace Voron.Tables;

/// <summary>The source of a query's row ids: an index, the rows themselves, or a combination of id sets.</summary>
internal abstract class RowSource : IDisposable
{
    /// <summary>The id of the row.</summary>
    public long RowId { get; protected set; }

    /// <summary>Distinguishes the entry from others with the same key.</summary>
    public virtual long EntryId => RowId;

    /// <summary>Begins to note the entries that are changed ahead of the query; null for a combination of id sets, which walks no tree.</summary>
    public virtual ChangesAheadOfQuery? BeginWalk() => null;

    /// <summary>Ends what <see cref="BeginWalk"/> has begun. May be called more than once.</summary>
    public virtual void EndWalk(ChangesAheadOfQuery walk)
    {
    }

    /// <summary>The key that led to the row, valid until the next move or write; empty if there is none.</summary>
    public abstract ReadOnlySpan<byte> Key { get; }

    /// <summary>True if the source provides the rows, and not only their ids.</summary>
    public virtual bool HasRows => false;

    /// <summary>Gets the row if the source provides it.</summary>
    public virtual bool TryGetRow(out ReadOnlySpan<byte> row)
    {
        row = default;
        return false;
    }

    /// <summary>Moves to the next row, or to the first one; false at the end.</summary>
    /// <param name="isBackward">True for descending order. The same in every call.</param>
    /// <param name="after">Where the first call begins; the default for the start of the range.</param>
    public abstract bool MoveNext(bool isBackward, PageToken after);

    /// <summary>Counts all entries of the range.</summary>
    public abstract long Count();

    public abstract void Dispose();
}
