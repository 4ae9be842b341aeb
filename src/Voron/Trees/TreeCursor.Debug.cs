using Voron.Trees.Pages;

namespace Voron.Trees;

/// <content>The cursor as a debugger and a log show it.</content>
internal sealed unsafe partial class TreeCursor
{
    /// <summary>Describes the position. Neither moves nor returns to a saved key, and reads no page but the one that it is on.</summary>
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
