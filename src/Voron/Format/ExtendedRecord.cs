using System.Runtime.CompilerServices;

namespace Voron.Format;

/// <summary>
/// Checks the bytes after the key of a leaf record of the kind <see cref="ValueKind.Extended"/>, and reads and writes sets of one id.
/// </summary>
internal static unsafe class ExtendedRecord
{
    /// <summary>The number of bytes before the id in a set of one id: form and payload.</summary>
    public const int OneIdHeader = 2;

    private const int MostIdBytes = sizeof(long);

    /// <summary>Returns whether the bytes are a possible record. The ids of a block are checked when they are unpacked.</summary>
    public static bool IsSound(byte* behind, int length)
    {
        if (length == 0)
            return false;
        switch (*(ExtendedForm*)behind)
        {
            case ExtendedForm.OneId:
                return length is > OneIdHeader and <= OneIdHeader + MostIdBytes && OneId(behind, length) >= 0;
            case ExtendedForm.FewIds:
                return length is >= FewIdsHeader.Size and <= FewIdsHeader.MaxBytes && IsSound(*(FewIdsHeader*)behind, length);
            case ExtendedForm.IdSet:
                return length == IdSetReference.Size && IsSound(*(IdSetReference*)behind, *(ushort*)(behind + 2));
            case ExtendedForm.Packed:
                return length >= PackedValue.Size && ((PackedValue*)behind)->IsSound(length);
            case ExtendedForm.PackedOutside:
                return length >= PackedValue.Size && ((PackedValue*)behind)->IsSound(length)
                    && IsSound(*(OverflowReference*)(behind + PackedValue.Size), ((PackedValue*)behind)->Length);
            default:
                return false;
        }
    }

    /// <summary>Returns whether a record with these bytes after its key is a compressed value.</summary>
    public static bool IsPacked(byte* behind) => *(ExtendedForm*)behind is ExtendedForm.Packed or ExtendedForm.PackedOutside;

    /// <summary>Returns the id of a set of one id.</summary>
    public static long OneId(byte* behind, int length)
    {
        long id = 0;
        Unsafe.CopyBlockUnaligned(&id, behind + OneIdHeader, (uint)(length - OneIdHeader));
        return id;
    }

    /// <summary>Writes a set of one id into at most 10 bytes, and returns their number.</summary>
    public static int WriteOneId(byte* behind, long id, byte payload)
    {
        behind[0] = (byte)ExtendedForm.OneId;
        behind[1] = payload;
        var bytes = Math.Max(1, (71 - System.Numerics.BitOperations.LeadingZeroCount((ulong)id)) >> 3);
        Unsafe.CopyBlockUnaligned(behind + OneIdHeader, &id, (uint)bytes);
        return OneIdHeader + bytes;
    }

    private static bool IsSound(in OverflowReference block, int valueLength) =>
        block.FirstPage is > 0 and < uint.MaxValue && block.Length > 0 && block.Length < valueLength;

    private static bool IsSound(in FewIdsHeader few, int length) =>
        few.First >= 0 && few.Shape.FitsIn(length - FewIdsHeader.Size);

    private static bool IsSound(in IdSetReference set, ushort spare) =>
        set.Depth is > 0 and <= IdSetReference.MaxDepth && spare == 0 && set.Root is > 0 and < uint.MaxValue
        && set.LastPage is > 0 and < uint.MaxValue && set.Ids > 0 && set.Pages >= set.Depth;
}
