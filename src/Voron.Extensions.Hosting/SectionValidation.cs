using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;

namespace Voron.Extensions.Hosting;

/// <summary>
/// Refuses names in the section of an environment that are those of no setting: a misspelt limit would otherwise be no limit, without a word.
/// </summary>
/// <param name="name">The name of the environment.</param>
/// <param name="configuration">The configuration; null if the application has none.</param>
internal sealed class SectionValidation(string name, IConfiguration? configuration) : IValidateOptions<VoronSettings>
{
    private static readonly string[] Settings =
    [
        .. typeof(VoronSettings).GetProperties().Select(property => property.Name),
        .. typeof(StorageOptions).GetProperties().Where(property => property.CanWrite || property.Name == nameof(StorageOptions.Trees))
            .Select(property => property.Name),
    ];

    private static readonly string[] HealthCheckSettings = [.. typeof(VoronHealthCheckSettings).GetProperties().Select(property => property.Name)];

    public ValidateOptionsResult Validate(string? validated, VoronSettings options)
    {
        if (validated != name || configuration == null)
            return ValidateOptionsResult.Skip;
        var section = configuration.GetSection(EnvironmentNames.SectionOf(name));
        var faults = new List<string>();
        Check(section, Settings, faults);
        Check(section.GetSection(nameof(VoronSettings.HealthCheck)), HealthCheckSettings, faults);
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);
    }

    // A name that has names below it may be another environment.
    private static void Check(IConfigurationSection section, string[] known, List<string> faults)
    {
        foreach (var part in section.GetChildren())
        {
            if (part.GetChildren().Any() || known.Contains(part.Key, StringComparer.OrdinalIgnoreCase))
                continue;
            var meant = Array.Find(known, setting => IsBeginning(part.Key, setting) || IsBeginning(setting, part.Key));
            faults.Add(
                $"The configuration sets '{part.Path}', and there is no setting '{part.Key}'. " +
                (meant == null ? "Correct the name, or remove it." : $"Did you mean '{meant}'?"));
        }
    }

    private static bool IsBeginning(string text, string of) => of.StartsWith(text, StringComparison.OrdinalIgnoreCase);
}
