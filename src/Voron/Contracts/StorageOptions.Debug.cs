using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Voron;

/// <content>The options as a debugger and a log show them.</content>
[DebuggerDisplay("{ToString(),nq}")]
public sealed partial class StorageOptions
{
    /// <summary>
    /// Lists the options that differ from their defaults, with their values; observers and factories are shown by their types only.
    /// </summary>
    public override string ToString()
    {
        var defaults = new StorageOptions();
        var text = new StringBuilder("options (");
        var start = text.Length;
        foreach (var property in typeof(StorageOptions).GetProperties())
        {
            var value = property.GetValue(this);
            if (Equals(value, property.GetValue(defaults)) || value is IList<string> { Count: 0 })
                continue;
            text.Append(text.Length == start ? "" : ", ").Append(property.Name).Append(" = ");
            text.Append(CultureInfo.InvariantCulture, $"{Describe(value)}");
        }

        return (text.Length == start ? text.Append("defaults") : text).Append(')').ToString();
    }

    // The ToString method of a user's object would run user code.
    private static object Describe(object? value) => value switch
    {
        string or ValueType => value,
        IList<string> names => string.Join('/', names),
        _ => value?.GetType().Name ?? "none",
    };
}
