namespace Voron.Simulation.Harness;

/// <summary>
/// One directory for all temporary files of this process and of those it starts. It is deleted when the process ends in an orderly way.
/// </summary>
internal static class TemporaryPlace
{
    private const int ExitInterrupted = 130;

    // The names of the variable on the various systems.
    private static readonly string[] Variables = ["TMPDIR", "TMP", "TEMP"];

    /// <summary>Creates the directory; from then on, <see cref="Path.GetTempPath"/> returns it.</summary>
    public static void Take()
    {
        var directory = Directory.CreateTempSubdirectory("voron-torture-").FullName;
        foreach (var variable in Variables)
            Environment.SetEnvironmentVariable(variable, directory);
        AppDomain.CurrentDomain.ProcessExit += (_, _) => Delete(directory);
        Console.CancelKeyPress += (_, _) => Environment.Exit(ExitInterrupted);
    }

    /// <summary>Makes a process that is to be started use a directory of the caller for its temporary files.</summary>
    public static void Give(IDictionary<string, string?> environment, string directory)
    {
        foreach (var variable in Variables)
            environment[variable] = directory;
    }

    /// <summary>Deletes a directory. A process that still writes there may keep a part of it; that is no reason to fail.</summary>
    public static void Delete(string directory)
    {
        try
        {
            Directory.Delete(directory, recursive: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
        }
    }
}
