using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// A copy of this program beside it, in which the engine has the machine code of the package. Users have that in the first second of a
/// process, so workloads that do not warm up run there. A build makes the copy if it is asked to.
/// </summary>
internal static class PackagedEngine
{
    private const string DirectoryName = "packaged";

    private static readonly string Copy = Path.Combine(AppContext.BaseDirectory, DirectoryName);

    /// <summary>False if there is no copy, or one of other code than that of this program.</summary>
    private static readonly bool IsBuilt = IsSame("Voron.dll") && IsSame("Voron.Benchmarks.dll");

    /// <summary>Lets a process that measures the first second run the copy, if there is one.</summary>
    public static void Use(ProcessStartInfo start)
    {
        if (!IsBuilt)
            return;
        var program = Path.GetFileName(start.FileName);
        if (File.Exists(Path.Combine(Copy, program)))
            start.FileName = Path.Combine(Copy, program);
        else
            start.ArgumentList[0] = Path.Combine(Copy, Path.GetFileName(start.ArgumentList[0]));
    }

    /// <summary>Notes in the row of this project's engine which code ran.</summary>
    public static RunResult Describe(RunResult result) => result with
    {
        Note = IsBuilt ? "machine code of the package" : "portable assembly: build with -p:PackagedEngine=true",
    };

    private static bool IsSame(string assembly) =>
        File.Exists(Path.Combine(Copy, assembly))
        && Version(Path.Combine(Copy, assembly)) == Version(Path.Combine(AppContext.BaseDirectory, assembly));

    /// <summary>Reads the id that a compilation gives to its assembly. Machine code that is added later leaves it as it is.</summary>
    private static Guid Version(string path)
    {
        using var assembly = new PEReader(File.OpenRead(path));
        var reader = assembly.GetMetadataReader();
        return reader.GetGuid(reader.GetModuleDefinition().Mvid);
    }
}
