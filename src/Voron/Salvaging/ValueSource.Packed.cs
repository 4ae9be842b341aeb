using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <content>Compressed values.</content>
internal sealed unsafe partial class ValueSource
{
    private string? TryOpenPacked(byte* record, uint? treeId)
    {
        var header = *LeafPage.Packed(record);
        var block = new ReadOnlySpan<byte>(LeafPage.InlineBytes(record) + PackedValue.Size, LeafPage.InlineLength(record) - PackedValue.Size);
        if (header.Form == ExtendedForm.PackedOutside)
        {
            _kind = ValueKind.Overflow;
            if ((TryOpenOverflow(*LeafPage.Overflow(record)) ?? TryRead(0, out block)) is { } fault)
                return fault;
        }

        var lost = dictionaries.Unpack(header, block, treeId, new Span<byte>(_unpacked, header.Length));
        Open(_unpacked, header.Length);
        return lost;
    }
}
