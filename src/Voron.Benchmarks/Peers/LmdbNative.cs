namespace Voron.Benchmarks.Peers;

/// <summary>The part of LMDB's C interface that the benchmarks call, bound to the system's library.</summary>
internal static unsafe partial class LmdbNative
{
    internal const int Success = 0;
    internal const int NotFound = -30798;

    internal const uint ReadOnlyTransaction = 0x20000;

    internal const uint CreateDatabase = 0x40000;
    internal const uint IntegerKeys = 0x08;

    internal const uint SortedDuplicates = 0x04;
    internal const uint FixedDuplicates = 0x10;
    internal const uint IntegerDuplicates = 0x20;

    internal const int CursorFirst = 0;
    internal const int CursorLast = 6;
    internal const int CursorNext = 8;
    internal const int CursorNextDuplicate = 9;
    internal const int CursorPrevious = 12;
    internal const int CursorSet = 15;
    internal const int CursorSetRange = 17;

    internal const uint OnlyIfMissing = 0x10;
    internal const uint AppendAtEnd = 0x20000;

    private const string Library = NativeLibraries.Lmdb;

    internal static bool IsInstalled => NativeLibraries.HandleOf(Library) != 0;

    [LibraryImport(Library, EntryPoint = "mdb_version")] internal static partial byte* Version(int* major, int* minor, int* patch);
    [LibraryImport(Library, EntryPoint = "mdb_strerror")] internal static partial byte* ErrorText(int code);
    [LibraryImport(Library, EntryPoint = "mdb_env_create")] internal static partial int CreateEnvironment(nint* environment);
    [LibraryImport(Library, EntryPoint = "mdb_env_open", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int OpenEnvironment(nint environment, string path, uint flags, uint mode);
    [LibraryImport(Library, EntryPoint = "mdb_env_set_mapsize")] internal static partial int SetMapSize(nint environment, nuint bytes);
    [LibraryImport(Library, EntryPoint = "mdb_env_set_maxdbs")] internal static partial int SetMaxDatabases(nint environment, uint count);
    [LibraryImport(Library, EntryPoint = "mdb_env_close")] internal static partial void CloseEnvironment(nint environment);
    [LibraryImport(Library, EntryPoint = "mdb_txn_begin")]
    internal static partial int BeginTransaction(nint environment, nint parent, uint flags, nint* transaction);
    [LibraryImport(Library, EntryPoint = "mdb_txn_commit")] internal static partial int CommitTransaction(nint transaction);
    [LibraryImport(Library, EntryPoint = "mdb_txn_abort")] internal static partial void AbortTransaction(nint transaction);
    [LibraryImport(Library, EntryPoint = "mdb_txn_reset")] internal static partial void ResetTransaction(nint transaction);
    [LibraryImport(Library, EntryPoint = "mdb_txn_renew")] internal static partial int RenewTransaction(nint transaction);
    [LibraryImport(Library, EntryPoint = "mdb_dbi_open", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int OpenDatabase(nint transaction, string? name, uint flags, uint* database);
    [LibraryImport(Library, EntryPoint = "mdb_put")]
    internal static partial int Put(nint transaction, uint database, LmdbValue* key, LmdbValue* data, uint flags);
    [LibraryImport(Library, EntryPoint = "mdb_get")]
    internal static partial int Get(nint transaction, uint database, LmdbValue* key, LmdbValue* data);
    [LibraryImport(Library, EntryPoint = "mdb_cursor_open")] internal static partial int OpenCursor(nint transaction, uint database, nint* cursor);
    [LibraryImport(Library, EntryPoint = "mdb_cursor_renew")] internal static partial int RenewCursor(nint transaction, nint cursor);
    [LibraryImport(Library, EntryPoint = "mdb_cursor_close")] internal static partial void CloseCursor(nint cursor);
    [LibraryImport(Library, EntryPoint = "mdb_cursor_get")]
    internal static partial int MoveCursor(nint cursor, LmdbValue* key, LmdbValue* data, int operation);
    [LibraryImport(Library, EntryPoint = "mdb_del")]
    internal static partial int Delete(nint transaction, uint database, LmdbValue* key, LmdbValue* data);
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
