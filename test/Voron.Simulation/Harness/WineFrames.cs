using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Voron.Simulation.Harness;

/// <summary>
/// Repairs a conflict between Wine and the runtime, without which tests cannot run on Wine at all. While Wine calls an exception handler, it
/// keeps a record on the stack, in the list at the beginning of the thread's block. The runtime leaves such a handler by restoring the
/// registers itself, so the record stays in the list while its stack space is reused. Wine then calls the next bytes there as a handler, and
/// the thread dies without a message. 64-bit Windows keeps no such list, so each exception may begin with an empty one.
/// </summary>
public static unsafe partial class WineFrames
{
    // mov qword ptr gs:[0], -1; xor eax, eax (continue the search); ret
    private static ReadOnlySpan<byte> EmptyTheList => [0x65, 0x48, 0xC7, 0x04, 0x25, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x31, 0xC0, 0xC3];

    /// <summary>Whether the process runs on Wine.</summary>
    public static bool IsWine { get; } = OperatingSystem.IsWindows()
        && NativeLibrary.TryLoad("ntdll.dll", out var library)
        && NativeLibrary.TryGetExport(library, "wine_get_version", out _);

    /// <summary>Installs the repair on Wine, and does nothing elsewhere. Called once, before the first exception.</summary>
    public static void Mend()
    {
        if (OperatingSystem.IsWindows() && IsWine && RuntimeInformation.ProcessArchitecture == Architecture.X64)
            Install();
    }

    [SupportedOSPlatform("windows")]
    private static void Install()
    {
        const uint CommitAndReserve = 0x3000;
        const uint ExecuteReadWrite = 0x40;
        var code = (byte*)VirtualAlloc(null, (nuint)EmptyTheList.Length, CommitAndReserve, ExecuteReadWrite);
        if (code == null)
            throw new InvalidOperationException("VirtualAlloc failed for the handler that Wine needs.");
        EmptyTheList.CopyTo(new Span<byte>(code, EmptyTheList.Length));
        if (AddVectoredExceptionHandler(1, code) == null)
            throw new InvalidOperationException("AddVectoredExceptionHandler failed for the handler that Wine needs.");
    }

    [LibraryImport("kernel32.dll")]
    private static partial void* VirtualAlloc(void* address, nuint length, uint type, uint protection);

    [LibraryImport("kernel32.dll")]
    private static partial void* AddVectoredExceptionHandler(uint first, void* handler);
}
