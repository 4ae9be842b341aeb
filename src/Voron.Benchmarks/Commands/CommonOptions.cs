using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Options that more than one command has. Each command gets its own instances.</summary>
internal static class CommonOptions
{
    public static Option<double> Scale()
    {
        var option = new Option<double>("--scale")
        {
            Description = "Multiplies the number of items and operations of every workload.",
            DefaultValueFactory = _ => 1.0,
        };
        option.Validators.Add(result =>
        {
            if (result.Tokens.Count == 1 && !(result.GetValueOrDefault<double>() is > 0 and <= 100))
                result.AddError("--scale must be above 0 and at most 100.");
        });
        return option;
    }

    public static Option<string?> Json() => new("--json")
    {
        Description = "Also write everything measured to this file.",
        HelpName = "FILE",
    };

    public static Option<string?> Markdown() => new("--markdown")
    {
        Description = "Also write the tables to this file, as Markdown.",
        HelpName = "FILE",
    };

    public static Option<string> Directory() => new("--directory")
    {
        Description = "Where the stores are made, on the device to measure. A directory of its own is made inside, and removed.",
        DefaultValueFactory = _ => System.IO.Directory.GetCurrentDirectory(),
        HelpName = "DIR",
    };

    /// <summary>Names may be given one by one, or with commas between them.</summary>
    public static IEnumerable<string> SplitNames(IEnumerable<string> names) =>
        names.SelectMany(name => name.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));
}
