using System.CommandLine;

namespace Voron.Benchmarks.Commands;

/// <summary>Rules for the values of options.</summary>
internal static class OptionRules
{
    /// <summary>Refuses values that break a rule.</summary>
    /// <param name="option">The option.</param>
    /// <param name="isValid">Whether a value keeps the rule.</param>
    /// <param name="rule">The rule, for the message: what the option must be.</param>
    public static void Require(this Option<int> option, Func<int, bool> isValid, string rule) => option.Validators.Add(result =>
    {
        if (result.Tokens.Count == 1 && !isValid(result.GetValueOrDefault<int>()))
            result.AddError($"{option.Name} must be {rule}.");
    });
}
