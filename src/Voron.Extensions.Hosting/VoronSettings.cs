namespace Voron.Extensions.Hosting;

/// <summary>
/// The application's settings for an environment among its services: its location, and its health thresholds. The engine options are in
/// <see cref="StorageOptions"/>, which are bound to the same configuration section.
/// </summary>
/// <remarks>The settings are read once. Later changes of the configuration take effect when the application starts again.</remarks>
public sealed class VoronSettings
{
    /// <summary>
    /// The path of the directory, which holds this environment alone. A relative path begins at the content root of the host; without a host,
    /// at the current directory.
    /// </summary>
    public string? Directory { get; set; }

    /// <summary>
    /// Whether the environment is in memory instead of in a directory: for tests and demonstrations. Its contents are lost when the application ends.
    /// Of the <see cref="StorageOptions"/>, only those that <see cref="InMemoryOptions"/> also has apply.
    /// </summary>
    public bool InMemory { get; set; }

    /// <summary>Whether to leave the environment out of the health checks of the application.</summary>
    public bool DisableHealthChecks { get; set; }

    /// <summary>The thresholds of the health check.</summary>
    public VoronHealthCheckSettings HealthCheck { get; } = new();

    /// <summary>Checks all settings together.</summary>
    /// <exception cref="ArgumentException">One or more settings are missing or out of range; the message names each of them.</exception>
    public void Validate()
    {
        var faults = FindFaults();
        if (faults.Count > 0)
            throw new ArgumentException($"The settings are not valid: {string.Join(' ', faults)}");
    }

    internal List<string> FindFaults()
    {
        var faults = new List<string>();
        if (!InMemory && string.IsNullOrWhiteSpace(Directory))
            faults.Add($"{nameof(Directory)} is not set; it must name a directory, unless {nameof(InMemory)} is set.");
        else if (!InMemory && Directory!.Contains('\0'))
            faults.Add($"{nameof(Directory)} contains a null character.");
        HealthCheck.AddFaults(nameof(HealthCheck), faults);
        return faults;
    }
}
