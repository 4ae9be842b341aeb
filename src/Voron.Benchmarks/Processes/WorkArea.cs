namespace Voron.Benchmarks.Processes;

/// <summary>A directory of this run's own, removed at its end.</summary>
internal sealed class WorkArea : IDisposable
{
    /// <exception cref="BenchmarkException">Nothing can be made below <paramref name="parent"/>.</exception>
    public WorkArea(string parent)
    {
        Path = System.IO.Path.Combine(System.IO.Path.GetFullPath(parent), $"voron-benchmarks-{Environment.ProcessId}");
        try
        {
            Directory.CreateDirectory(Path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw new BenchmarkException($"{parent} cannot hold the stores of this run: {error.Message}", error);
        }
    }

    public string Path { get; }

    /// <summary>Each engine has its own directory for each store.</summary>
    public string StorePath(string engine, string store) => System.IO.Path.Combine(Path, $"{engine}-{store}");

    public void Dispose()
    {
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }
}
