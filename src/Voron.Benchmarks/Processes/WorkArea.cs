namespace Voron.Benchmarks.Processes;

/// <summary>A new directory for one run, removed at its end.</summary>
internal sealed class WorkArea : IDisposable
{
    /// <exception cref="BenchmarkException">The directory cannot be created in <paramref name="parent"/>.</exception>
    public WorkArea(string parent)
    {
        Path = System.IO.Path.Combine(System.IO.Path.GetFullPath(parent), $"voron-benchmarks-{Environment.ProcessId}");
        try
        {
            Directory.CreateDirectory(Path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw new BenchmarkException($"Cannot create a directory in {parent}: {error.Message} Choose another --directory.", error);
        }
    }

    public string Path { get; }

    /// <summary>Returns the directory for one engine's store.</summary>
    public string StorePath(string engine, string store) => System.IO.Path.Combine(Path, $"{engine}-{store}");

    public void Dispose() => Delete(Path);

    /// <summary>Deletes a directory, if it exists, with all that it holds.</summary>
    public static void Delete(string path)
    {
        if (Directory.Exists(path))
            Directory.Delete(path, recursive: true);
    }
}
