using System.Reflection;
using System.Runtime.InteropServices;

namespace Voron.Benchmarks.Peers;

/// <summary>The part of LMDB's C interface that the benchmarks call, bound to the system's own library.</summary>
internal static unsafe partial class LmdbNative
{
    internal const int Success = 0;
    internal const int NotFound = -30798;

    internal const uint ReadOnlyTransaction = 0x20000;

    internal const int CursorFirst = 0;
    internal const int CursorLast = 6;
    internal const int CursorNext = 8;
    internal const int CursorPrevious = 12;

    private const string Library = "lmdb";
    private static readonly string[] LibraryNames = ["liblmdb.so.0", "liblmdb.so", "liblmdb.dylib", "lmdb"];
    private static readonly nint Handle = Load();

    internal static bool IsInstalled => Handle != 0;

    [LibraryImport(Library, EntryPoint = "mdb_version")]
    internal static partial byte* Version(int* major, int* minor, int* patch);

    [LibraryImport(Library, EntryPoint = "mdb_strerror")]
    internal static partial byte* ErrorText(int code);

    [LibraryImport(Library, EntryPoint = "mdb_env_create")]
    internal static partial int CreateEnvironment(nint* environment);

    [LibraryImport(Library, EntryPoint = "mdb_env_open", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int OpenEnvironment(nint environment, string path, uint flags, uint mode);

    [LibraryImport(Library, EntryPoint = "mdb_env_set_mapsize")]
    internal static partial int SetMapSize(nint environment, nuint bytes);

    [LibraryImport(Library, EntryPoint = "mdb_env_close")]
    internal static partial void CloseEnvironment(nint environment);

    [LibraryImport(Library, EntryPoint = "mdb_txn_begin")]
    internal static partial int BeginTransaction(nint environment, nint parent, uint flags, nint* transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_commit")]
    internal static partial int CommitTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_abort")]
    internal static partial void AbortTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_reset")]
    internal static partial void ResetTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_txn_renew")]
    internal static partial int RenewTransaction(nint transaction);

    [LibraryImport(Library, EntryPoint = "mdb_dbi_open", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int OpenDatabase(nint transaction, string? name, uint flags, uint* database);

    [LibraryImport(Library, EntryPoint = "mdb_stat")]
    internal static partial int ReadStatistics(nint transaction, uint database, LmdbStatistics* statistics);

    [LibraryImport(Library, EntryPoint = "mdb_put")]
    internal static partial int Put(nint transaction, uint database, LmdbValue* key, LmdbValue* data, uint flags);

    [LibraryImport(Library, EntryPoint = "mdb_get")]
    internal static partial int Get(nint transaction, uint database, LmdbValue* key, LmdbValue* data);

    [LibraryImport(Library, EntryPoint = "mdb_cursor_open")]
    internal static partial int OpenCursor(nint transaction, uint database, nint* cursor);

    [LibraryImport(Library, EntryPoint = "mdb_cursor_renew")]
    internal static partial int RenewCursor(nint transaction, nint cursor);

    [LibraryImport(Library, EntryPoint = "mdb_cursor_close")]
    internal static partial void CloseCursor(nint cursor);

    [LibraryImport(Library, EntryPoint = "mdb_cursor_get")]
    internal static partial int MoveCursor(nint cursor, LmdbValue* key, LmdbValue* data, int operation);

    private static nint Load()
    {
        nint found = 0;
        foreach (string name in LibraryNames)
        {
            if (NativeLibrary.TryLoad(name, typeof(LmdbNative).Assembly, null, out found))
                break;
        }
        NativeLibrary.SetDllImportResolver(typeof(LmdbNative).Assembly, Resolve);
        return found;
    }

    /// <summary>The library's file name differs by system; zero leaves every other library to the usual search.</summary>
    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? path) => name == Library ? Handle : 0;
}

/// <summary>MDB_val: a length and a pointer.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct LmdbValue
{
    public nuint Length;
    public byte* Data;

    public LmdbValue(byte* data, int length)
    {
        Length = (nuint)length;
        Data = data;
    }

    public readonly ReadOnlySpan<byte> Span => new(Data, (int)Length);
}

/// <summary>MDB_stat.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct LmdbStatistics
{
    public uint PageBytes;
    public uint Depth;
    public nuint BranchPages;
    public nuint LeafPages;
    public nuint OverflowPages;
    public nuint Entries;
}
