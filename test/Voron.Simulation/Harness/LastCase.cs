using System.Globalization;
using System.Text;

namespace Voron.Simulation.Harness;

/// <summary>
/// Writes a description of the current case to a file: if the case ends the process, the file remains and says how to run the case again.
/// The file belongs to the thread that makes the runs, and is deleted when the process ends in any other way.
/// </summary>
/// <remarks>
/// It outlives the run, so that a process that dies between two runs, by a thread that the first one left behind, still says which one
/// that was.
/// </remarks>
internal sealed class LastCase : IDisposable
{
    private readonly FileStream _file;
    private readonly string _begin;

    public LastCase(string suite, long seed, long run)
    {
        var directory = Path.Combine(Path.GetTempPath(), "voron-torture");
        Directory.CreateDirectory(directory);
        var path = Path.Combine(directory, $"{suite}-{Environment.ProcessId}-{Environment.CurrentManagedThreadId}.last");
        if (!File.Exists(path))
            AppDomain.CurrentDomain.ProcessExit += (_, _) => Delete(path);

        // The system must not delete the file: Windows would do that when the process dies, too.
        _file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.Write, FileShare.Read, bufferSize: 0);
        _begin = $"--suite {suite} --seed {seed.ToString(CultureInfo.InvariantCulture)} --first {run} --count 1 --threads 1: ";
    }

    /// <summary>Returns the case that a file describes, or "" if there is none yet.</summary>
    public static string Load(string path)
    {
        var text = File.ReadAllText(path);
        return text[..Math.Max(0, text.IndexOf('\n'))].Trim();
    }

    /// <summary>Replaces the description by one write, which leaves the end of a longer one behind its first line.</summary>
    public void Note(string what) => RandomAccess.Write(_file.SafeFileHandle, Encoding.UTF8.GetBytes($"{_begin}{what.ReplaceLineEndings(" ")}\n"), 0);

    public void Dispose() => _file.Dispose();

    // The folder for temporary files may be gone by then.
    private static void Delete(string path)
    {
        if (File.Exists(path))
            File.Delete(path);
    }
}
