using System.Globalization;
using System.Text;

namespace Voron.KillTarget;

/// <summary>
/// Works in a process whose data file another process truncates: touching a mapped page that the file no longer backs ends a process.
/// </summary>
public static class CutFile
{
    public const string Data = "voron.data";

    /// <summary>The line that the process writes once the environment is open and its pages have been used.</summary>
    public const string Ready = "ready";

    private const int Values = 400;
    private const int ValueBytes = 3_000;

    /// <summary>Fills an environment, reads all of it, waits for a line of input, and performs one operation.</summary>
    /// <param name="what">The operation: read, unread (a read in an environment that has just been opened), verify, flush, grow or
    /// close.</param>
    /// <returns>The outcome: "done", or the exception.</returns>
    public static string Run(string directory, string what, TextReader input, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(input);
        ArgumentNullException.ThrowIfNull(output);
        var options = new StorageOptions { BackgroundFlush = false };
        using (var filled = StorageEnvironment.Open(directory, options))
            Fill(filled, 0);
        var environment = StorageEnvironment.Open(directory, options);
        try
        {
            if (what != "unread")
                Read(environment);
            if (what is "flush" or "close")
                Fill(environment, 1);
            output.WriteLine(Ready);
            output.Flush();
            input.ReadLine();
            Act(environment, what);
            return "done";
        }
        catch (VoronException e)
        {
            return $"{e.GetType().Name}: {e.Message}";
        }
        finally
        {
            environment.Internals.Engine.Poison.Set(new InvalidOperationException("nothing more is to be written"));
            environment.Dispose();
        }
    }

    private static void Act(StorageEnvironment environment, string what)
    {
        switch (what)
        {
            case "read" or "unread":
                Read(environment);
                break;
            case "verify":
                var report = environment.Verify();
                if (!report.IsSound)
                    throw new CorruptionException(report.ToString());
                break;
            case "flush":
                environment.Flush();
                break;
            case "grow":
                using (var writing = environment.BeginWrite())
                {
                    writing.CreateTree("large").Put("value"u8, new byte[64 << 20]);
                    writing.Commit();
                }

                break;
            case "close":
                environment.Dispose();
                break;
        }
    }

    private static void Fill(StorageEnvironment environment, int seed)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("items");
        for (var i = 0; i < Values; i++)
            tree.Put(Key(i), Value(i + seed));
        writing.Commit();
    }

    /// <summary>Reads all values and compares them with those of the first write or, with a seed of 1, of the second.</summary>
    /// <exception cref="InvalidOperationException">A value differs.</exception>
    public static void Read(StorageEnvironment environment, int seed = 0)
    {
        ArgumentNullException.ThrowIfNull(environment);
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("items");
        for (var i = 0; i < Values; i++)
        {
            if (!tree.TryGet(Key(i), out var value) || !value.SequenceEqual(Value(i + seed)))
                throw new InvalidOperationException($"Value {i} is not what was written.");
        }
    }

    private static byte[] Key(int number) => Encoding.ASCII.GetBytes(number.ToString("D8", CultureInfo.InvariantCulture));

    private static byte[] Value(int seed)
    {
        var bytes = new byte[ValueBytes];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }
}
