using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Voron.KillTarget;

/// <summary>
/// Works in a process whose files must not exceed a given length: the signal that the system sends for that normally ends a process.
/// </summary>
public static partial class FileSizeLimit
{
    /// <summary>RLIMIT_FSIZE of Linux and macOS.</summary>
    private const int FileSize = 1;

    /// <summary>Fills an environment until a write is refused, lifts the limit, and continues writing.</summary>
    /// <returns>"sound", or a description of the fault.</returns>
    public static string Run(string directory, long bytes)
    {
        using var environment = StorageEnvironment.Open(directory, new StorageOptions { ScrubInterval = Timeout.InfiniteTimeSpan });
        if (GetLimit(FileSize, out var before) != 0)
            return "the limit cannot be read";
        var lowered = before with { Current = (ulong)bytes };
        if (SetLimit(FileSize, in lowered) != 0)
            return "the limit cannot be set";

        var last = 0;
        string? refusal = null;
        while (refusal == null && last < 100_000)
        {
            try
            {
                Put(environment, last);
                last++;
            }
            catch (StorageFullException e)
            {
                refusal = e.Message;
            }
        }

        if (refusal == null)
            return $"{last} commits were not refused";
        environment.Flush();
        if (Check(environment, last) is { } fault)
            return $"after '{refusal}': {fault}";
        if (SetLimit(FileSize, in before) != 0)
            return "the limit cannot be lifted";
        for (var more = 0; more < 100; more++)
            Put(environment, last++);
        return Check(environment, last) ?? "sound";
    }

    private static void Put(StorageEnvironment environment, int number)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree("items").Put(Key(number), Value(number));
        writing.Commit();
    }

    private static string? Check(StorageEnvironment environment, int count)
    {
        var report = environment.Verify();
        if (!report.IsSound)
            return report.ToString();
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("items");
        for (var i = 0; i < count; i++)
        {
            if (!tree.TryGet(Key(i), out var value) || !value.SequenceEqual(Value(i)))
                return $"value {i} of {count} is not as it was written";
        }

        return null;
    }

    private static byte[] Key(int number) => Encoding.ASCII.GetBytes(number.ToString("D8", CultureInfo.InvariantCulture));

    private static byte[] Value(int number)
    {
        var bytes = new byte[10_000];
        new Random(number).NextBytes(bytes);
        return bytes;
    }

    [LibraryImport("libc", EntryPoint = "getrlimit", SetLastError = true)]
    private static partial int GetLimit(int resource, out Limit limit);

    [LibraryImport("libc", EntryPoint = "setrlimit", SetLastError = true)]
    private static partial int SetLimit(int resource, in Limit limit);

    [StructLayout(LayoutKind.Sequential)]
    private record struct Limit(ulong Current, ulong Most);
}
