using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <content>The check of compressed values.</content>
internal sealed unsafe partial class TreeChecker
{
    private void CheckPacked(PageNumber leaf, int slot, byte* record)
    {
        if (LeafPage.Packed(record) != null && _host.FindFault(record, _treeMark - 1) is { } fault)
            Report($"page {leaf}: slot {slot}: {fault}");
    }
}
