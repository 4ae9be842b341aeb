namespace Voron.KillTarget;

/// <summary>Creates an environment at the same time as other processes do, and reports the outcome.</summary>
internal static class EnvironmentCreation
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    public static void Run(string directory, TextReader input, TextWriter output)
    {
        // The code is compiled by then.
        StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false }).Dispose();
        output.WriteLine("ready");
        input.ReadLine();
        StorageEnvironment? created = null;
        try
        {
            created = StorageEnvironment.Open(directory, new StorageOptions { OpenMode = OpenMode.CreateNew, LockTimeout = Patience });
            output.WriteLine("created");
        }
        catch (VoronException e)
        {
            output.WriteLine(e.GetType().Name);
        }

        input.ReadLine();
        created?.Dispose();
    }
}
