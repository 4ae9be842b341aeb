namespace Voron.Benchmarks.Processes;

/// <summary>A memory cgroup (version 2 or 1) that limits the memory of processes, page cache included, and counts it.</summary>
internal sealed class MemoryGroup : IDisposable
{
    private static readonly TimeSpan SamplePause = TimeSpan.FromMilliseconds(20);
    private static int CreatedCount;

    private readonly Files _files;
    private readonly string _path;

    private MemoryGroup(Files files, string path)
    {
        _files = files;
        _path = path;
    }

    /// <summary>The most bytes that the group has had at a time, page cache included.</summary>
    private long PeakBytes => long.Parse(Read(_files.Peak), CultureInfo.InvariantCulture);

    /// <summary>The bytes of memory that no file backs. The system can take the rest back, but not these.</summary>
    private long AnonymousBytes => Figure(Read(Files.Statistics), _files.AnonymousName);

    /// <summary>The number of processes that the system ended because the group had too little memory.</summary>
    private long Kills => Figure(Read(_files.Events), Files.KillsName);

    /// <summary>Returns a group, or null, and reports the reason, if the system has no such groups or this user cannot create one.</summary>
    /// <param name="bytes">Its limit; null for none.</param>
    public static MemoryGroup? TryCreate(long? bytes, Action<string> say)
    {
        if (Files.Find() is not { } files)
        {
            say("No memory limit by cgroup: the system has no hierarchy of cgroups with a memory controller.");
            return null;
        }

        var name = $"voron-{Environment.ProcessId}-{Interlocked.Increment(ref CreatedCount)}";
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

    public void Dispose() => TryDelete(_path);

    /// <summary>Makes a process that has not been started begin in the group: a shell joins it, and becomes the program.</summary>
    private void Enclose(ProcessStartInfo start)
    {
        string[] program = [start.FileName, .. start.ArgumentList];
        start.FileName = "sh";
        start.ArgumentList.Clear();
        foreach (var word in (string[])["-c", $"echo $$ > \"$0\" && exec \"$@\"", Path.Combine(_path, Files.Processes), .. program])
            start.ArgumentList.Add(word);
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

    /// <summary>The names of the files by which a system controls memory groups: cgroups have two versions.</summary>
    /// <param name="Parent">The group in which new ones are created.</param>
    /// <param name="SwapLimit">The file with the limit of swapped memory; it exists only where memory can be swapped.</param>
    /// <param name="Events">The file that counts ended processes.</param>
    private sealed record Files(string Parent, string Limit, string SwapLimit, string Peak, string Events, string AnonymousName)
    {
        public const string Processes = "cgroup.procs";
        public const string Statistics = "memory.stat";
        public const string KillsName = "oom_kill";

        private const string Root = "/sys/fs/cgroup";
        private const string SelfFile = "/proc/self/cgroup";
        private const string SwapFile = "memory.swap.max";

        /// <summary>Returns the files of this system, or null if it has none.</summary>
        public static Files? Find()
        {
            var controllers = Path.Combine(Root, "cgroup.controllers");
            if (File.Exists(controllers))
            {
                return File.ReadAllText(controllers).Contains("memory", StringComparison.Ordinal)
                    ? new Files(Root, "memory.max", SwapFile, "memory.peak", "memory.events", "anon")
                    : null;
            }

            // Version 1: a group of its own below that of this process, in the hierarchy of the controller.
            const string Controller = ":memory:";
            var hierarchy = Path.Combine(Root, "memory");
            if (!Directory.Exists(hierarchy) || !File.Exists(SelfFile))
                return null;
            var line = File.ReadLines(SelfFile).FirstOrDefault(text => text.Contains(Controller, StringComparison.Ordinal));
            if (line is null)
                return null;
            var own = hierarchy + line[(line.IndexOf(Controller, StringComparison.Ordinal) + Controller.Length)..];
            return new Files(
                Directory.Exists(own) ? own : hierarchy, "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes",
                "memory.oom_control", "rss");
        }

        /// <summary>Returns the limit that allows no swapping: version 1 counts memory and swapped memory together.</summary>
        public long SwapOf(long bytes) => SwapLimit == SwapFile ? 0 : bytes;
    }
}

/// <summary>The end of a process, and the memory that its group has had.</summary>
internal sealed record GroupedResult(int ExitCode, string Output, string Errors, long PeakBytes, long AnonymousBytes, bool WasKilled);
