namespace Voron.Torture.Harness;

/// <summary>One directory for all temporary files of this process and those it starts, which goes when the process ends in good order.</summary>
internal static class TemporaryPlace
{
    private const int ExitInterrupted = 130;

    // What the systems call it.
    private static readonly string[] Variables = ["TMPDIR", "TMP", "TEMP"];

    /// <summary>From here on, <see cref="Path.GetTempPath"/> gives it.</summary>
    public static void Take()
    {
        string directory = Directory.CreateTempSubdirectory("voron-torture-").FullName;
        foreach (string variable in Variables)
            Environment.SetEnvironmentVariable(variable, directory);
        AppDomain.CurrentDomain.ProcessExit += (_, _) => Delete(directory);
        Console.CancelKeyPress += (_, _) => Environment.Exit(ExitInterrupted);
    }

    /// <summary>For a process that is to be started, a place within a directory of the caller's.</summary>
    public static void Give(IDictionary<string, string?> environment, string directory)
    {
        foreach (string variable in Variables)
            environment[variable] = directory;
    }

    /// <summary>Whoever still writes there keeps a part of it: that is no reason to fail.</summary>
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
