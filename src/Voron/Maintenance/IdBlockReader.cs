using Voron.Format;
using Voron.Trees.IdSets.Pages;

namespace Voron.Maintenance;

/// <summary>Reads the blocks of an id page that may be damaged: follows no offset that leads out of the page.</summary>
internal static unsafe class IdBlockReader
{
    /// <summary>Returns the blocks; those that cannot be read have a fault.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">Its size in bytes.</param>
    public static List<IdBlockDescription> Read(byte* page, int pageSize)
    {
        var count = Math.Min(IdPage.Count(page), IdPage.Capacity(pageSize) / IdBlockEntry.Size);
        var blocks = new List<IdBlockDescription>(count);
        for (var i = 0; i < count; i++)
            blocks.Add(Read(page, pageSize, i));
        return blocks;
    }

    private static IdBlockDescription Read(byte* page, int pageSize, int index)
    {
        var entry = IdPage.Entries(page)[index];
        var block = new IdBlockDescription(index, entry.Place)
        {
            FirstId = entry.First,
            Ids = entry.Count,
            GapWidth = entry.GapWidth,
            PayloadWidth = entry.PayloadWidth,
            HighestPayload = entry.HighestPayload,
            IsTail = entry.IsTail,
            CapacityBytes = entry.Capacity,
        };

        // A block without bytes is at offset 0.
        if (entry.Capacity > 0 && (entry.Place < PageHeader.Size || entry.Capacity > pageSize - entry.Place))
            return block with { Fault = $"its {entry.Capacity} bytes at offset {entry.Place} are not inside the page" };
        var ids = stackalloc long[IdBlock.MaxIds];
        return IdBlock.TryUnpack(page + entry.Place, entry.Capacity, entry.Shape, entry.First, ids)
            ? block with { LastId = ids[entry.Count - 1] }
            : block with { Fault = $"its {entry.Count} ids do not fit into {entry.Capacity} bytes, or are not from 0 to {long.MaxValue}" };
    }
}
