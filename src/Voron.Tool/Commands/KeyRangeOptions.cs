using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>The options that choose a range of keys.</summary>
internal sealed class KeyRangeOptions
{
    private readonly Option<string?> _from = new("--from") { Description = "The first key." };
    private readonly Option<string?> _to = new("--to") { Description = "The key before which the range ends." };
    private readonly Option<string?> _prefix = new("--prefix") { Description = "The beginning of all keys." };

    public void AddTo(Command command)
    {
        command.Options.Add(_from);
        command.Options.Add(_to);
        command.Options.Add(_prefix);
    }

    /// <summary>Returns whether one of the options is given.</summary>
    public bool AreGiven(ParseResult parsed) => new[] { _from, _to, _prefix }.Any(option => parsed.GetValue(option) is not null);

    /// <summary>Returns the range; all keys if no option is given.</summary>
    /// <exception cref="ToolException">A key is not spelled as one.</exception>
    public KeyRange RangeOf(ParseResult parsed)
    {
        var keys = KeyRange.All;
        if (parsed.GetValue(_prefix) is { } begins)
            keys = keys.Intersect(KeyRange.Prefix(KeyText.Parse(begins)));
        if (parsed.GetValue(_from) is { } first)
            keys = keys.Intersect(KeyRange.From(KeyText.Parse(first)));
        if (parsed.GetValue(_to) is { } end)
            keys = keys.Intersect(KeyRange.Before(KeyText.Parse(end)));
        return keys;
    }
}
