using System.Diagnostics;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>Helpers shared by the tests of the files beside an environment.</summary>
internal static class Place
{
    public const string Header = "voron.header";
    public const string Data = "voron.data";

    /// <summary>Makes a directory with a closed environment, in which item 1 has one byte.</summary>
    public static TemporaryDirectory WithEnvironment()
    {
        var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        return directory;
    }

    /// <summary>Makes a directory as a killed process leaves it: items 1 to <paramref name="count"/> are in the journal only.</summary>
    public static TemporaryDirectory Killed(int count)
    {
        using var living = new TemporaryDirectory();
        var killed = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(living.Path, FaultTestKit.Options());
        for (var i = 1; i <= count; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 300));
        CopyFiles(living.Path, killed.Path);
        return killed;
    }

    /// <summary>Copies files that may be open.</summary>
    public static void CopyFiles(string source, string target)
    {
        foreach (var file in Directory.GetFiles(source))
            File.WriteAllBytes(Path.Combine(target, Path.GetFileName(file)), Read(file));
    }

    public static byte[] Read(string file)
    {
        using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }

    public static void Run(string command, params string[] arguments)
    {
        using var process = Process.Start(command, arguments);
        process.WaitForExit();
        process.ExitCode.Should().Be(0, "{0} has to work", command);
    }

    public static IEnumerable<string> Journals(string directory) =>
        Directory.GetFiles(directory, "journal-*.voron").Order(StringComparer.Ordinal);
}
