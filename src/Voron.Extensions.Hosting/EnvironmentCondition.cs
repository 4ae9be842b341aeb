namespace Voron.Extensions.Hosting;

/// <summary>The condition of an environment of the application.</summary>
/// <param name="Environment">The environment; null if it has not been opened.</param>
/// <param name="IsOpening">True if an opening has begun, and has not failed.</param>
/// <param name="IsClosed">True if the services have been disposed.</param>
/// <param name="Failure">The failure of the last opening; null if there was none.</param>
internal readonly record struct EnvironmentCondition(StorageEnvironment? Environment, bool IsOpening, bool IsClosed, Exception? Failure);
