namespace Voron.Tool.Shell;

/// <summary>An environment that a command uses, and closes unless it is another's.</summary>
internal sealed class OpenEnvironment(StorageEnvironment environment, bool canWrite, bool isShared = false) : IDisposable
{
    public StorageEnvironment Environment => environment;

    /// <summary>Whether commands may change it.</summary>
    public bool CanWrite => canWrite;

    /// <summary>Returns the same environment for a command that does not close it.</summary>
    public OpenEnvironment Share() => new(environment, canWrite, isShared: true);

    public void Dispose()
    {
        if (!isShared)
            environment.Dispose();
    }
}
