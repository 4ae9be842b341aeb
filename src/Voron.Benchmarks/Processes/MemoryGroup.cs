namespace Voron.Benchmarks.Processes;

/// <summary>A memory cgroup (version 2 or 1) that limits the memory of processes, page cache included, and counts it.</summary>
internal sealed class MemoryGroup : IDisposable
{
    private static readonly TimeSpan SamplePause = TimeSpan.FromMilliseconds(20);
    private static int CreatedCount;

    private readonly MemoryGroupFiles _files;
    private readonly string _path;

    private MemoryGroup(MemoryGroupFiles files, string path)
    {
        _files = files;
        _path = path;
    }

    /// <summary>The most bytes that the group has had at a time, page cache included.</summary>
    public long PeakBytes => long.Parse(Read(_files.Peak), CultureInfo.InvariantCulture);

    /// <summary>The bytes of memory that no file backs. The system can take the rest back, but not these.</summary>
    public long AnonymousBytes => Figure(Read(MemoryGroupFiles.Statistics), _files.AnonymousName);

    /// <summary>The number of processes that the system ended because the group had too little memory.</summary>
    public long Kills => Figure(Read(_files.Events), MemoryGroupFiles.KillsName);

    /// <summary>Returns a group, or null, and reports the reason, if the system has no such groups or this user cannot create one.</summary>
    /// <param name="bytes">Its limit; null for none.</param>
    public static MemoryGroup? TryCreate(long? bytes, Action<string> say)
    {
        if (MemoryGroupFiles.Find() is not { } files)
        {
            say("No memory limit by cgroup: the system has no hierarchy of cgroups with a memory controller.");
            return null;
        }

        var name = string.Create(CultureInfo.InvariantCulture, $"voron-{Environment.ProcessId}-{Interlocked.Increment(ref CreatedCount)}");
        var path = Path.Combine(files.Parent, name);
        try
        {
            Directory.CreateDirectory(path);
            var group = new MemoryGroup(files, path);
            if (bytes is { } limit)
                group.Limit(limit);
            return group;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            say($"No memory limit by cgroup: {error.Message}");
            TryDelete(path);
            return null;
        }
    }

    /// <summary>Moves this process into the group, together with the processes that it will start.</summary>
    /// <returns>False, with the reason reported, if the system refuses.</returns>
    public bool TryJoin(Action<string> say)
    {
        try
        {
            Move(_path);
            return true;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            say($"No memory limit by cgroup: {error.Message}");
            return false;
        }
    }

    /// <summary>Runs a process in the group to its end, and watches the memory of the group meanwhile.</summary>
    public async Task<GroupedResult> RunAsync(ProcessStartInfo start, CancellationToken cancellationToken)
    {
        Enclose(start);
        using var process = Process.Start(start) ?? throw new BenchmarkException($"'{start.FileName}' cannot be started.");
        var output = process.StandardOutput.ReadToEndAsync(CancellationToken.None);
        var errors = process.StandardError.ReadToEndAsync(CancellationToken.None);
        var ended = process.WaitForExitAsync(CancellationToken.None);
        var anonymous = 0L;
        try
        {
            while (!ended.IsCompleted)
            {
                anonymous = Math.Max(anonymous, AnonymousBytes);
                await Task.WhenAny(ended, Task.Delay(SamplePause, cancellationToken)).ConfigureAwait(false);
                cancellationToken.ThrowIfCancellationRequested();
            }
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            await ended.ConfigureAwait(false);
            throw;
        }

        return new GroupedResult(
            process.ExitCode, await output.ConfigureAwait(false), await errors.ConfigureAwait(false), PeakBytes, anonymous, Kills > 0);
    }

    /// <summary>Makes a process that has not been started begin in the group: a shell joins it, and becomes the program.</summary>
    private void Enclose(ProcessStartInfo start)
    {
        string[] program = [start.FileName, .. start.ArgumentList];
        start.FileName = "sh";
        start.ArgumentList.Clear();
        foreach (var word in (string[])["-c", $"echo $$ > \"$0\" && exec \"$@\"", Path.Combine(_path, MemoryGroupFiles.Processes), .. program])
            start.ArgumentList.Add(word);
    }

    public void Dispose()
    {
        try
        {
            foreach (var process in File.ReadAllLines(Path.Combine(_path, MemoryGroupFiles.Processes)))
            {
                if (process == Environment.ProcessId.ToString(CultureInfo.InvariantCulture))
                    Move(_files.Parent);
            }
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The group is deleted if it is empty.
        }

        TryDelete(_path);
    }

    private static void TryDelete(string path)
    {
        try
        {
            Directory.Delete(path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // An empty group that is left behind costs nothing.
        }
    }

    private static void Move(string group) => File.WriteAllText(
        Path.Combine(group, MemoryGroupFiles.Processes), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));

    private static long Figure(string text, string name)
    {
        var line = text.Split('\n').FirstOrDefault(line => line.StartsWith(name + " ", StringComparison.Ordinal));
        return line is null ? 0 : long.Parse(line.AsSpan(name.Length + 1), CultureInfo.InvariantCulture);
    }

    private void Limit(long bytes)
    {
        File.WriteAllText(Path.Combine(_path, _files.Limit), bytes.ToString(CultureInfo.InvariantCulture));
        var swap = Path.Combine(_path, _files.SwapLimit);
        if (File.Exists(swap))
            File.WriteAllText(swap, _files.SwapOf(bytes).ToString(CultureInfo.InvariantCulture));
    }

    private string Read(string file) => File.ReadAllText(Path.Combine(_path, file));
}

/// <summary>The end of a process, and the memory that its group has had.</summary>
internal sealed record GroupedResult(int ExitCode, string Output, string Errors, long PeakBytes, long AnonymousBytes, bool WasKilled);
