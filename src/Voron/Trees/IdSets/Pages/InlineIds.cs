using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Reads and writes sets of ids stored in their leaf record.</summary>
internal static unsafe class InlineIds
{
    /// <summary>Unpacks the ids of a record of one of the first two forms, and returns their number.</summary>
    /// <param name="reader">The source of the record, for messages.</param>
    /// <param name="behind">The bytes after the key: a sound record.</param>
    /// <param name="length">Their number.</param>
    /// <param name="ids">Receives the ids; has room for a block.</param>
    /// <param name="payloads">Receives the payloads; has room for a block.</param>
    /// <exception cref="CorruptionException">The ids do not fit into the record, or an id would exceed the largest possible one.</exception>
    public static int Unpack(PageReader reader, byte* behind, int length, long* ids, byte* payloads)
    {
        if (*(ExtendedForm*)behind == ExtendedForm.OneId)
        {
            ids[0] = ExtendedRecord.OneId(behind, length);
            payloads[0] = behind[1];
            return 1;
        }

        var header = *(FewIdsHeader*)behind;
        var block = behind + FewIdsHeader.Size;
        var capacity = length - FewIdsHeader.Size;
        if (!IdBlock.TryUnpack(block, capacity, header.Shape, header.First, ids)
            || !IdBlock.TryUnpackPayloads(block, capacity, header.Shape, payloads))
            IdSetErrors.ThrowInline(reader, header);
        return header.Count;
    }

    /// <summary>Returns whether the ids of a record of one of the first two forms can be unpacked.</summary>
    public static bool AreSound(byte* behind, int length)
    {
        if (*(ExtendedForm*)behind == ExtendedForm.OneId)
            return true;
        var ids = stackalloc long[IdBlock.MaxIds];
        var header = *(FewIdsHeader*)behind;
        return IdBlock.TryUnpack(behind + FewIdsHeader.Size, length - FewIdsHeader.Size, header.Shape, header.First, ids);
    }

    /// <summary>Returns the number of ids in a record of any form.</summary>
    public static long Count(byte* behind) => *(ExtendedForm*)behind switch
    {
        ExtendedForm.OneId => 1,
        ExtendedForm.FewIds => ((FewIdsHeader*)behind)->Count,
        _ => ((IdSetReference*)behind)->Ids,
    };

    /// <summary>Writes a record of one of the first two forms, and returns its length; 0 if the ids need pages of their own.</summary>
    /// <param name="behind">Has room for <see cref="FewIdsHeader.MaxBytes"/> bytes.</param>
    /// <param name="ids">The ids, at least one.</param>
    /// <param name="payloads">The payloads.</param>
    /// <param name="count">Their number.</param>
    /// <param name="most">The maximum number of bytes of the record.</param>
    public static int Write(byte* behind, long* ids, byte* payloads, int count, int most)
    {
        if (count == 1)
            return ExtendedRecord.WriteOneId(behind, ids[0], payloads[0]);
        if (count > IdBlock.MaxIds)
            return 0;
        var shape = IdBlock.Measure(ids, payloads, count);
        var length = FewIdsHeader.RecordBytes(shape);
        if (length > most)
            return 0;
        new Span<byte>(behind, length).Clear();
        *(FewIdsHeader*)behind = new FewIdsHeader
        {
            Form = ExtendedForm.FewIds,
            Count = (byte)count,
            GapWidth = (byte)shape.GapWidth,
            PayloadWidth = (byte)shape.PayloadWidth,
            First = ids[0],
        };
        IdBlock.Pack(behind + FewIdsHeader.Size, shape, ids, payloads);
        return length;
    }
}
