using System.Diagnostics;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>The range as a debugger and a log show it.</content>
[DebuggerDisplay("{ToString(),nq}")]
public readonly ref partial struct KeyRange
{
    /// <summary>Describes the range by its bounds, as text, or in hexadecimal if they are not printable UTF-8.</summary>
    public override string ToString() =>
        IsEmpty ? "no keys"
        : _start.IsStart && _end.IsEnd ? "all keys"
        : _start.IsStart ? $"keys {Describe(_end, "before", "through")}"
        : _end.IsEnd ? $"keys {Describe(_start, "from", "after")}"
        : $"keys {Describe(_start, "from", "after")} {Describe(_end, "before", "through")}";

    private static string Describe(KeyBound bound, string beforeKey, string afterKey)
    {
        if (bound.TryGetBytes(out var bytes))
            return $"{beforeKey} {KeyText.Of(bytes)}";
        var following = new byte[bound.Length];
        bound.CopyTo(following);
        return following[^1] == 0 ? $"{afterKey} {KeyText.Of(bytes)}" : $"{beforeKey} {KeyText.Of(following)}";
    }
}
