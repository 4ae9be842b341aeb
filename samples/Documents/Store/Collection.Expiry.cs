using Voron.Tables;

namespace Voron.Documents;

// A document that is due is not read any more; the row goes with the next slice of ExpireAsync.
public sealed partial class Collection
{
    private const int DocumentsPerSlice = 200;

    /// <summary>Deletes the documents whose time is over, and their attachments, in small transactions while others write.</summary>
    /// <remarks>Does nothing while the index on the times is built.</remarks>
    /// <param name="cancellationToken">Cancels the call between two transactions.</param>
    /// <returns>The number of documents that were deleted.</returns>
    public async ValueTask<long> ExpireAsync(CancellationToken cancellationToken = default)
    {
        var total = 0L;
        while (true)
        {
            if (Shape.Expiry is not { } expiry || !HasDue(expiry))
                return total;
            total += await WriteAsync(
                expiry, static (writing, shape, expiry) => Expire(writing, shape, expiry), cancellationToken).ConfigureAwait(false);
        }
    }

    private bool HasDue(Expiry expiry)
    {
        using var reading = _environment.BeginRead();
        var table = reading.OpenTable(Definition);
        if (table.GetIndexState(expiry.IndexName) != IndexState.Ready)
            return false;
        using var due = table.FromRaw(expiry.IndexName, Expiry.Through(expiry.Now));
        return due.MoveNext();
    }

    private static int Expire(WriteTransaction writing, CollectionShape shape, Expiry expiry)
    {
        var table = writing.OpenTable(shape.Definition);
        if (shape.Expiry?.IndexName != expiry.IndexName)
            return 0;
        var due = new List<Document>();
        using (var rows = table.FromRaw(expiry.IndexName, Expiry.Through(expiry.Now)).Take(DocumentsPerSlice))
        {
            while (rows.MoveNext())
                due.Add(rows.Current);
        }

        foreach (var document in due)
            shape.Delete(writing, table, document);
        return due.Count;
    }
}
