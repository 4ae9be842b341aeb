using System.Reflection;

namespace Voron.Benchmarks.Peers;

/// <summary>
/// Finds the peers' libraries, whose file names depend on the system. All share one resolver, because an assembly can have only one.
/// </summary>
internal static class NativeLibraries
{
    internal const string Lmdb = "lmdb";
    internal const string Berkeley = "db-5.3";

    private static readonly Dictionary<string, nint> Handles = new()
    {

        // That of the package first, which needs a recent C library, then that of the system.
        [Lmdb] = Load("lmdb", "liblmdb.so.0", "liblmdb.dylib"),
        [Berkeley] = Load("libdb-5.3.so", "libdb-5.3.dylib"),
    };

    static NativeLibraries() => NativeLibrary.SetDllImportResolver(typeof(NativeLibraries).Assembly, Resolve);

    /// <summary>Returns zero if the library is not on this machine. Check this before the first call into it.</summary>
    internal static nint HandleOf(string library) => Handles[library];

    /// <summary>Returns true if the library is on this machine and has all of these exports.</summary>
    internal static bool Has(string library, params string[] exports) =>
        HandleOf(library) is not 0 and var handle && exports.All(export => NativeLibrary.TryGetExport(handle, export, out _));

    private static nint Load(params string[] names) => names
        .Select(name => NativeLibrary.TryLoad(name, typeof(NativeLibraries).Assembly, null, out var handle) ? handle : 0)
        .FirstOrDefault(handle => handle != 0);

    /// <summary>Returns zero for other libraries, which leaves them to the default search.</summary>
    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? path) => Handles.GetValueOrDefault(name);
}
