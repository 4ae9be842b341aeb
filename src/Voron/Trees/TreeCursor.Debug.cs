using Voron.Trees.Pages;

namespace Voron.Trees;

/// <content>The description of the cursor for debuggers and logs.</content>
internal sealed unsafe partial class TreeCursor
{
    /// <summary>Describes the position. Neither moves the cursor nor restores a saved position, and reads no page but the current leaf.</summary>
    internal string Describe()
    {
        var leaf = _leaf;
        var (index, saved) = (_index, _savedKey);
        switch (_place)
        {
            case Place.Entry when leaf != null && (uint)index < (uint)SlottedPage.Count(leaf):
                return $"at {KeyText.Of(LeafPage.Key(SlottedPage.Record(leaf, index)))}";
            case Place.Saved:
                return $"at {KeyText.Of(saved.AsSpan(0, Math.Min(_savedLength, saved.Length)))}, if the tree still has it";
            case Place.BeforeFirst:
                return "before the first entry";
            case Place.AfterLast:
                return "after the last entry";
            case Place.Lost:
                return "lost: the last seek failed";
            default:
                return "not positioned";
        }
    }
}
