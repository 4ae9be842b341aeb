namespace Voron.Benchmarks.Peers;

/// <summary>The part of SQLite's C interface that the benchmarks call.</summary>
internal static unsafe partial class SqliteNative
{
    internal const int Ok = 0;
    internal const int Row = 100;
    internal const int Done = 101;

    internal const int OpenReadWrite = 0x2;
    internal const int OpenCreate = 0x4;

    private const string Library = NativeLibraries.Sqlite;

    internal static bool IsInstalled => NativeLibraries.HandleOf(Library) != 0;

    [LibraryImport(Library, EntryPoint = "sqlite3_libversion")] internal static partial byte* Version();
    [LibraryImport(Library, EntryPoint = "sqlite3_open_v2", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int Open(string path, nint* connection, int flags, nint vfs);
    [LibraryImport(Library, EntryPoint = "sqlite3_close_v2")] internal static partial int Close(nint connection);
    [LibraryImport(Library, EntryPoint = "sqlite3_busy_timeout")] internal static partial int SetBusyTimeout(nint connection, int milliseconds);
    [LibraryImport(Library, EntryPoint = "sqlite3_exec", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int Execute(nint connection, string sql, nint callback, nint argument, byte** error);
    [LibraryImport(Library, EntryPoint = "sqlite3_prepare_v2", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial int Prepare(nint connection, string sql, int bytes, nint* statement, byte** tail);
    [LibraryImport(Library, EntryPoint = "sqlite3_step")] internal static partial int Step(nint statement);
    [LibraryImport(Library, EntryPoint = "sqlite3_reset")] internal static partial int Reset(nint statement);
    [LibraryImport(Library, EntryPoint = "sqlite3_finalize")] internal static partial int Finish(nint statement);

    /// <param name="destructor">Zero means that the bytes stay in place until the statement is reset.</param>
    [LibraryImport(Library, EntryPoint = "sqlite3_bind_blob")]
    internal static partial int BindBlob(nint statement, int index, byte* data, int length, nint destructor);
    [LibraryImport(Library, EntryPoint = "sqlite3_column_blob")] internal static partial byte* ColumnBlob(nint statement, int column);
    [LibraryImport(Library, EntryPoint = "sqlite3_column_bytes")] internal static partial int ColumnBytes(nint statement, int column);
    [LibraryImport(Library, EntryPoint = "sqlite3_errmsg")] internal static partial byte* ErrorText(nint connection);
}
