namespace Voron.Benchmarks.Peers;

/// <summary>
/// The part of Berkeley DB 5.3's C interface that the benchmarks call. Its public form is structures of function pointers;
/// the functions that these point to are exported as well, so they are bound by name, and a library that lacks one of
/// them counts as not installed. No offset within a structure is known here.
/// </summary>
internal static unsafe partial class BerkeleyNative
{
    internal const int NotFound = -30988;
    internal const int Deadlock = -30993;
    internal const int BufferSmall = -30999;

    internal const uint Create = 0x1;
    internal const uint Recover = 0x2;
    internal const uint Threaded = 0x20;
    internal const uint WithLocks = 0x100;
    internal const uint WithLog = 0x200;
    internal const uint WithCache = 0x400;
    internal const uint WithTransactions = 0x2000;
    internal const uint AutoCommit = 0x100;

    internal const int BTree = 1;
    internal const uint RejectFewestWriteLocks = 6;
    internal const uint RemoveLogs = 0x1;
    internal const uint First = 7;
    internal const uint Last = 15;
    internal const uint Next = 16;
    internal const uint Previous = 23;

    private const string Library = NativeLibraries.Berkeley;
    private const int Major = 5;
    private const int Minor = 3;

    internal static bool IsInstalled { get; } = NativeLibraries.Has(
        Library, "db_version", "db_strerror", "db_env_create", "db_create", "__env_open_pp", "__env_close_pp", "__lock_set_lk_detect",
        "__lock_set_lk_max_locks", "__lock_set_lk_max_objects", "__log_set_config", "__db_open_pp", "__db_close_pp", "__db_put_pp",
        "__db_get_pp", "__db_del_pp", "__db_cursor_pp", "__dbc_get_pp", "__dbc_close_pp", "__txn_begin_pp", "__txn_commit",
        "__txn_abort", "__txn_checkpoint_pp") && IsExpectedVersion();
    [LibraryImport(Library, EntryPoint = "db_version")] internal static partial byte* Version(int* major, int* minor, int* patch);
    [LibraryImport(Library, EntryPoint = "db_strerror")] internal static partial byte* ErrorText(int code);
    [LibraryImport(Library, EntryPoint = "db_env_create")] internal static partial int CreateEnvironment(nint* environment, uint flags);
    [LibraryImport(Library, EntryPoint = "__env_open_pp", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int OpenEnvironment(nint environment, string home, uint flags, int mode);
    [LibraryImport(Library, EntryPoint = "__env_close_pp")] internal static partial int CloseEnvironment(nint environment, uint flags);
    [LibraryImport(Library, EntryPoint = "__lock_set_lk_detect")] internal static partial int SetDeadlockRule(nint environment, uint rule);
    [LibraryImport(Library, EntryPoint = "__lock_set_lk_max_locks")] internal static partial int SetMaxLocks(nint environment, uint count);
    [LibraryImport(Library, EntryPoint = "__lock_set_lk_max_objects")] internal static partial int SetMaxLockedObjects(nint environment, uint count);
    [LibraryImport(Library, EntryPoint = "__log_set_config")] internal static partial int SetLogFlags(nint environment, uint flags, int on);
    [LibraryImport(Library, EntryPoint = "db_create")] internal static partial int CreateDatabase(nint* database, nint environment, uint flags);
    [LibraryImport(Library, EntryPoint = "__db_open_pp", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int OpenDatabase(nint database, nint transaction, string file, string? name, int type, uint flags, int mode);
    [LibraryImport(Library, EntryPoint = "__db_close_pp")] internal static partial int CloseDatabase(nint database, uint flags);
    [LibraryImport(Library, EntryPoint = "__db_put_pp")]
    internal static partial int Put(nint database, nint transaction, BerkeleyValue* key, BerkeleyValue* data, uint flags);
    [LibraryImport(Library, EntryPoint = "__db_get_pp")]
    internal static partial int Get(nint database, nint transaction, BerkeleyValue* key, BerkeleyValue* data, uint flags);
    [LibraryImport(Library, EntryPoint = "__db_del_pp")]
    internal static partial int Delete(nint database, nint transaction, BerkeleyValue* key, uint flags);
    [LibraryImport(Library, EntryPoint = "__db_cursor_pp")]
    internal static partial int OpenCursor(nint database, nint transaction, nint* cursor, uint flags);
    [LibraryImport(Library, EntryPoint = "__dbc_get_pp")]
    internal static partial int MoveCursor(nint cursor, BerkeleyValue* key, BerkeleyValue* data, uint flags);
    [LibraryImport(Library, EntryPoint = "__dbc_close_pp")] internal static partial int CloseCursor(nint cursor);
    [LibraryImport(Library, EntryPoint = "__txn_begin_pp")]
    internal static partial int BeginTransaction(nint environment, nint parent, nint* transaction, uint flags);
    [LibraryImport(Library, EntryPoint = "__txn_commit")] internal static partial int CommitTransaction(nint transaction, uint flags);
    [LibraryImport(Library, EntryPoint = "__txn_abort")] internal static partial int AbortTransaction(nint transaction);
    [LibraryImport(Library, EntryPoint = "__txn_checkpoint_pp")]
    internal static partial int Checkpoint(nint environment, uint kilobytes, uint minutes, uint flags);

    private static bool IsExpectedVersion()
    {
        int major, minor, patch;
        Version(&major, &minor, &patch);
        return major == Major && minor == Minor;
    }
}

/// <summary>DBT, with the buffer for what is returned provided by the caller.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct BerkeleyValue
{
    private const uint UserMemory = 0x800;

    public byte* Data;
    public uint Size;
    public uint Capacity;
    public uint PartialLength;
    public uint PartialOffset;
    public void* Tag;
    public uint Flags;

    public static BerkeleyValue Input(byte* data, int length) => new() { Data = data, Size = (uint)length };

    public static BerkeleyValue Output(byte* data, int capacity) => new() { Data = data, Capacity = (uint)capacity, Flags = UserMemory };
}
