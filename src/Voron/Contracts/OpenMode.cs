namespace Voron;

/// <summary>Whether an opening accepts an existing environment, and whether it creates a missing one.</summary>
/// <remarks>
/// An environment exists when its header does: see <see cref="StorageEnvironment.Exists"/>. A creation that was interrupted, for example by a
/// crash, leaves no header. The next opening that may create an environment completes it.
/// </remarks>
public enum OpenMode
{
    /// <summary>Opens the environment; creates it, and the directory, if they are missing.</summary>
    OpenOrCreate,

    /// <summary>Opens the environment. If it is missing, the opening fails with an <see cref="EnvironmentNotFoundException"/>.</summary>
    OpenExisting,

    /// <summary>
    /// Creates the environment, and the directory if it is missing. If the environment exists, the opening fails with an
    /// <see cref="EnvironmentExistsException"/>. Of several callers that create it at the same time, one succeeds.
    /// </summary>
    CreateNew,
}
