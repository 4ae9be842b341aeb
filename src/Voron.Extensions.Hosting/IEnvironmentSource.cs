namespace Voron.Extensions.Hosting;

/// <summary>Where an environment of the application comes from.</summary>
internal interface IEnvironmentSource
{
    /// <summary>The section of the configuration, as messages name it.</summary>
    string Section { get; }

    /// <summary>Decides how the environment is opened; opens nothing yet.</summary>
    EnvironmentOpening Prepare();
}

/// <summary>The opening of an environment.</summary>
/// <param name="Place">The directory, or "memory".</param>
/// <param name="Open">Opens the environment on the calling thread.</param>
/// <param name="OpenAsync">Opens it without blocking the calling thread.</param>
internal sealed record EnvironmentOpening(
    string Place, Func<StorageEnvironment> Open, Func<CancellationToken, Task<StorageEnvironment>> OpenAsync);
