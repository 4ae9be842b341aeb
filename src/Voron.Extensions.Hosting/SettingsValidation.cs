using Microsoft.Extensions.Options;

namespace Voron.Extensions.Hosting;

/// <summary>Checks the settings and options of one environment, and names the section that they come from.</summary>
/// <param name="name">The name of the environment.</param>
internal sealed class SettingsValidation(string name) : IValidateOptions<VoronSettings>, IValidateOptions<StorageOptions>
{
    public ValidateOptionsResult Validate(string? name, VoronSettings options)
    {
        if (!IsMine(name))
            return ValidateOptionsResult.Skip;
        var faults = options.FindFaults();
        return faults.Count == 0 ? ValidateOptionsResult.Success : Fail(string.Join(' ', faults));
    }

    public ValidateOptionsResult Validate(string? name, StorageOptions options)
    {
        if (!IsMine(name))
            return ValidateOptionsResult.Skip;
        try
        {
            options.Validate();
            return ValidateOptionsResult.Success;
        }
        catch (ArgumentException e)
        {
            return Fail(e.Message);
        }
    }

    private bool IsMine(string? validated) => validated == name;

    private ValidateOptionsResult Fail(string faults) =>
        ValidateOptionsResult.Fail($"Section '{EnvironmentNames.SectionOf(name)}' of the configuration, with what the application has set in code: {faults}");
}
