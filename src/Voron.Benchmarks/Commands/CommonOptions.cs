using System.CommandLine;
using Voron.Benchmarks.Engines;

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

    public static Option<string[]> Engines(params string[] defaults) => new("--engines")
    {
        Description = "The engines to measure.",
        AllowMultipleArgumentsPerToken = true,
        DefaultValueFactory = _ => defaults,
    };

    public static Option<int> TimeLimit(string description, int defaultSeconds) => new("--time-limit")
    {
        Description = description,
        DefaultValueFactory = _ => defaultSeconds,
        HelpName = "SECONDS",
    };

    /// <exception cref="BenchmarkException">No engine has one of these names.</exception>
    public static EngineDescriptor[] FindEngines(IEnumerable<string> names) => [.. SplitNames(names).Select(EngineCatalog.Find)];

    /// <summary>Names may be separate arguments, or separated by commas.</summary>
    public static IEnumerable<string> SplitNames(IEnumerable<string> names) =>
        names.SelectMany(name => name.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));
}
