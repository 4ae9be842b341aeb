using System.CommandLine;
using System.Globalization;
using System.Numerics;

namespace Voron.Documents.Tool;

/// <summary>Options whose value is a number.</summary>
internal static class NumberOption
{
    /// <summary>Creates an option that may be left out.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="description">What it does.</param>
    /// <param name="least">The least number.</param>
    public static Option<T?> Create<T>(string name, string description, T least)
        where T : struct, INumber<T> => new(name)
        {
            Description = description,
            CustomParser = result =>
            {
                var text = result.Tokens[^1].Value;
                if (T.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) && number >= least)
                    return number;
                result.AddError($"{name} needs a number of {least} or more, not '{text}'.");
                return null;
            },
        };
}
