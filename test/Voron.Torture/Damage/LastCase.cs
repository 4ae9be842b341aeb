using System.Globalization;
using System.Text;

namespace Voron.Torture.Damage;

/// <summary>
/// Writes a description of the current case to a file: if the case ends the process, the file remains and says how to run the case again.
/// The file is deleted when the run ends in any other way.
/// </summary>
internal sealed class LastCase : IDisposable
{
    private readonly FileStream _file;

    public LastCase(string suite, long seed, long run)
    {
        var directory = System.IO.Path.Combine(System.IO.Path.GetTempPath(), "voron-torture");
        Directory.CreateDirectory(directory);
        var path = System.IO.Path.Combine(directory, $"{suite}-{Environment.ProcessId}-{run}.last");

        // The system must not delete the file: Windows would do that when the process dies, too.
        _file = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read, bufferSize: 0);
        Begin = $"--suite {suite} --seed {seed.ToString(CultureInfo.InvariantCulture)} --first {run} --count 1 --threads 1: ";
    }

    private string Begin { get; }

    public void Note(string what) => RandomAccess.Write(_file.SafeFileHandle, Encoding.UTF8.GetBytes($"{Begin}{what}\n"), 0);

    public void Dispose()
    {
        _file.Dispose();
        File.Delete(_file.Name);
    }
}
