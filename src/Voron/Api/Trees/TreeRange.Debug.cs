using System.Diagnostics;
using Voron.Trees;

namespace Voron;

/// <content>The range as a debugger and a log show it.</content>
[DebuggerDisplay("{ToString(),nq}")]
public readonly ref partial struct TreeRange
{
    /// <summary>Describes the range by its tree, its bounds, and the numbers of skipped and taken entries.</summary>
    public override string ToString()
    {
        if (_tree == null)
            return "range (none)";
        var tree = _tree.Generation == _generation ? $"tree {KeyText.Of(_tree.Name)}" : "a tree that has ended";
        return $"range of {tree}: {_keys.ToString()}{_slice.Describe()}";
    }

    /// <summary>Describes the enumeration by the place of its cursor.</summary>
    [DebuggerDisplay("{ToString(),nq}")]
    public ref partial struct Enumerator
    {
        /// <summary>Describes the enumeration by the place of its cursor.</summary>
        public override readonly string ToString() => $"enumeration, {_handle}";
    }
}
