using System.CommandLine;
using Voron.Tool.Contents;

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

    /// <summary>Returns the range as it was given; all keys if no option is given.</summary>
    /// <exception cref="ToolException">A key is not spelled as one, whatever the kind of the tree.</exception>
    public KeyBounds Of(ParseResult parsed)
    {
        var bounds = new KeyBounds(parsed.GetValue(_from), parsed.GetValue(_to), parsed.GetValue(_prefix));
        bounds.ToRange(KeyText.Parse);
        return bounds;
    }
}
