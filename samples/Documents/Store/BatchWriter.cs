using System.Buffers;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>Writes the documents of a batch in a transaction. It may run more than once, when the commit that it was in is done again.</summary>
/// <param name="shape">The shape of the collection.</param>
/// <param name="batch">The documents, prepared for the shape.</param>
/// <param name="name">The name of the collection in UTF-8.</param>
internal readonly struct BatchWriter(CollectionShape shape, DocumentBatch batch, byte[] name)
{
    /// <summary>Writes the documents.</summary>
    /// <returns>The version of the last one, whether there was none of its id, and how many have taken the place of another one.</returns>
    /// <exception cref="SchemaMismatchException">The table has another shape. Nothing but a number was taken.</exception>
    public (RowVersion Version, bool IsNew, int Replaced) Write(WriteTransaction writing)
    {
        batch.PrepareFor(shape);
        var table = writing.OpenTable(shape.Definition);
        var numbers = ArrayPool<long>.Shared.Rent(batch.Count);
        var key = (stackalloc byte[DocumentId.MaxKeyBytes]);
        List<(int Place, Document Old)>? replaced = null;
        var added = 0;
        for (var i = 0; i < batch.Count; i++)
        {
            numbers[i] = 0;
            if (batch[i].IsReplaced)
                continue;
            var isKnown = table.TryGetByRaw(CollectionShape.IdIndex, DocumentId.KeyOf(batch[i].Id, key), out var old);
            if (isKnown && shape.IsDue(old))
            {
                // A document of that id begins: nothing of the one that is over stays.
                shape.Delete(writing, table, old);
                isKnown = false;
            }

            if (isKnown)
            {
                (replaced ??= []).Add((i, old));
                numbers[i] = old.Number;
            }
            else
            {
                added++;
            }
        }

        var next = writing.OpenTree(Collection.NumbersTree).Add(name, added) - added;
        var last = (Version: RowVersion.None, IsNew: false, Replaced: batch.Count - added);
        for (var i = 0; i < batch.Count; i++)
        {
            var entry = batch[i];
            if (entry.IsReplaced)
                continue;
            var isNew = numbers[i] == 0;
            if (isNew)
                numbers[i] = ++next;
            var document = new Document(numbers[i], entry.Id, entry.Json) { Batch = batch, Place = i };
            last = last with { Version = isNew ? table.Insert(document) : table.Upsert(document), IsNew = isNew };
        }

        shape.Text?.Put(writing, batch, numbers.AsSpan(0, batch.Count), replaced);
        ArrayPool<long>.Shared.Return(numbers);
        return last;
    }
}
