namespace Voron.Benchmarks.Peers;

/// <summary>The part of RocksDB's C interface that the benchmarks call. Errors are returned as text that the caller frees.</summary>
internal static unsafe partial class RocksDbNative
{
    private const string Library = NativeLibraries.RocksDb;

    internal static bool IsInstalled => NativeLibraries.HandleOf(Library) != 0;

    [LibraryImport(Library, EntryPoint = "rocksdb_options_create")] internal static partial nint CreateOptions();
    [LibraryImport(Library, EntryPoint = "rocksdb_options_set_create_if_missing")]
    internal static partial void SetCreateIfMissing(nint options, byte value);
    [LibraryImport(Library, EntryPoint = "rocksdb_options_destroy")] internal static partial void DestroyOptions(nint options);
    [LibraryImport(Library, EntryPoint = "rocksdb_open", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial nint Open(nint options, string path, byte** error);
    [LibraryImport(Library, EntryPoint = "rocksdb_close")] internal static partial void Close(nint database);
    [LibraryImport(Library, EntryPoint = "rocksdb_writeoptions_create")] internal static partial nint CreateWriteOptions();
    [LibraryImport(Library, EntryPoint = "rocksdb_writeoptions_set_sync")] internal static partial void SetSync(nint options, byte value);
    [LibraryImport(Library, EntryPoint = "rocksdb_writeoptions_destroy")] internal static partial void DestroyWriteOptions(nint options);
    [LibraryImport(Library, EntryPoint = "rocksdb_readoptions_create")] internal static partial nint CreateReadOptions();
    [LibraryImport(Library, EntryPoint = "rocksdb_readoptions_set_snapshot")] internal static partial void SetSnapshot(nint options, nint snapshot);
    [LibraryImport(Library, EntryPoint = "rocksdb_readoptions_destroy")] internal static partial void DestroyReadOptions(nint options);
    [LibraryImport(Library, EntryPoint = "rocksdb_create_snapshot")] internal static partial nint CreateSnapshot(nint database);
    [LibraryImport(Library, EntryPoint = "rocksdb_release_snapshot")] internal static partial void ReleaseSnapshot(nint database, nint snapshot);
    [LibraryImport(Library, EntryPoint = "rocksdb_writebatch_create")] internal static partial nint CreateBatch();
    [LibraryImport(Library, EntryPoint = "rocksdb_writebatch_clear")] internal static partial void ClearBatch(nint batch);
    [LibraryImport(Library, EntryPoint = "rocksdb_writebatch_put")]
    internal static partial void BatchPut(nint batch, byte* key, nuint keyLength, byte* value, nuint valueLength);
    [LibraryImport(Library, EntryPoint = "rocksdb_writebatch_delete")]
    internal static partial void BatchDelete(nint batch, byte* key, nuint keyLength);
    [LibraryImport(Library, EntryPoint = "rocksdb_writebatch_destroy")] internal static partial void DestroyBatch(nint batch);
    [LibraryImport(Library, EntryPoint = "rocksdb_write")] internal static partial void Write(nint database, nint options, nint batch, byte** error);
    [LibraryImport(Library, EntryPoint = "rocksdb_put")]
    internal static partial void Put(nint database, nint options, byte* key, nuint keyLength, byte* value, nuint valueLength, byte** error);
    [LibraryImport(Library, EntryPoint = "rocksdb_get_pinned")]
    internal static partial nint GetPinned(nint database, nint options, byte* key, nuint keyLength, byte** error);
    [LibraryImport(Library, EntryPoint = "rocksdb_pinnableslice_value")] internal static partial byte* PinnedValue(nint slice, nuint* length);
    [LibraryImport(Library, EntryPoint = "rocksdb_pinnableslice_destroy")] internal static partial void DestroyPinned(nint slice);
    [LibraryImport(Library, EntryPoint = "rocksdb_create_iterator")] internal static partial nint CreateIterator(nint database, nint options);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_seek_to_first")] internal static partial void SeekToFirst(nint iterator);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_seek_to_last")] internal static partial void SeekToLast(nint iterator);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_next")] internal static partial void Next(nint iterator);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_prev")] internal static partial void Previous(nint iterator);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_valid")] internal static partial byte IsValid(nint iterator);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_key")] internal static partial byte* IteratorKey(nint iterator, nuint* length);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_value")] internal static partial byte* IteratorValue(nint iterator, nuint* length);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_get_error")] internal static partial void IteratorError(nint iterator, byte** error);
    [LibraryImport(Library, EntryPoint = "rocksdb_iter_destroy")] internal static partial void DestroyIterator(nint iterator);
    [LibraryImport(Library, EntryPoint = "rocksdb_free")] internal static partial void Free(void* memory);
}
