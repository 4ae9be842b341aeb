using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>
/// The calls on open files that not every Windows file system supports, as <see cref="WindowsFile"/> makes them. A test can
/// replace them to check how each result is handled.
/// </summary>
internal unsafe class WindowsCalls
{
    public static readonly WindowsCalls OfSystem = new();

    /// <summary>Sends a control code to the file system. Returns the error number, 0 for none.</summary>
    public virtual int Control(SafeFileHandle handle, uint code, ReadOnlySpan<long> input, Span<long> output, out int returnedBytes)
    {
        uint returned = 0;
        fixed (long* from = input)
        fixed (long* to = output)
        {
            var done = Kernel32.DeviceControl(
                handle, code, from, (uint)input.Length * sizeof(long), to, (uint)output.Length * sizeof(long), &returned, 0);
            returnedBytes = (int)returned;
            return done ? 0 : Marshal.GetLastPInvokeError();
        }
    }

    public virtual bool IsSparse(SafeFileHandle handle) => (File.GetAttributes(handle) & FileAttributes.SparseFile) != 0;

    /// <summary>Writes the file's cached data to the device, and flushes the device's cache.</summary>
    public virtual void Flush(SafeFileHandle handle) => RandomAccess.FlushToDisk(handle);
}
