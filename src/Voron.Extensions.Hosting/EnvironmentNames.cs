using Microsoft.Extensions.DependencyInjection;

namespace Voron.Extensions.Hosting;

/// <summary>The names of the environments among the services of an application.</summary>
internal sealed class EnvironmentNames
{
    private const string Root = "Voron";

    /// <summary>Parts of the default environment's section that have parts of their own: an environment cannot have the same section.</summary>
    private static readonly string[] Reserved = [nameof(VoronSettings.HealthCheck), nameof(StorageOptions.Trees)];

    private readonly List<string> _names = [];
    private readonly List<string> _wanted = [];

    public IReadOnlyList<string> All => _names;

    /// <summary>Notes that a table of an environment is brought to its definition.</summary>
    public void Want(string name) => _wanted.Add(name);

    /// <exception cref="InvalidOperationException">There is no environment for a table.</exception>
    public void ThrowIfMissing()
    {
        if (_wanted.Find(name => !_names.Contains(name)) is { } missing)
        {
            throw new InvalidOperationException(
                $"AddVoronTable names the environment '{missing}', and there is none: {(missing.Length == 0 ? "AddVoron adds it" : $"AddKeyedVoron(\"{missing}\") adds it")}.");
        }
    }

    /// <summary>Returns the names that belong to a collection of services, which has them from then on.</summary>
    public static EnvironmentNames Of(IServiceCollection services)
    {
        foreach (var service in services)
        {
            if (service is { IsKeyedService: false, ImplementationInstance: EnvironmentNames found })
                return found;
        }

        var names = new EnvironmentNames();
        services.AddSingleton(names);
        return names;
    }

    /// <summary>The section of the configuration that an environment has.</summary>
    public static string SectionOf(string name) => name.Length == 0 ? Root : $"{Root}:{name}";

    /// <summary>The name of the health check of an environment.</summary>
    public static string HealthCheckOf(string name) => name.Length == 0 ? "voron" : $"voron_{name}";

    /// <summary>Checks a name that a caller has passed, before anything is changed.</summary>
    public static void Check(IServiceCollection services, string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        if (name.Contains(':'))
            throw new ArgumentException($"The name '{name}' contains a colon, which separates the parts of a section's name. Use another name.", nameof(name));
        if (Reserved.Contains(name, StringComparer.OrdinalIgnoreCase))
        {
            throw new ArgumentException(
                $"The name '{name}' is that of a setting: the section '{SectionOf(name)}' belongs to the default environment. Use another name.", nameof(name));
        }

        var other = Of(services)._names.Find(known => string.Equals(known, name, StringComparison.OrdinalIgnoreCase));
        if (other != null && other != name)
        {
            throw new ArgumentException(
                $"The name '{name}' differs from '{other}' only in case, and sections of the configuration do not. Use one of them throughout.", nameof(name));
        }
    }

    /// <summary>Adds a name; false if it is known.</summary>
    public bool TryAdd(string name)
    {
        if (_names.Contains(name))
            return false;
        _names.Add(name);
        return true;
    }
}
