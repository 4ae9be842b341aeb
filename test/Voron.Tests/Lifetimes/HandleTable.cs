using System.Buffers;
using Voron.Tests.Faults;

namespace Voron.Tests.Lifetimes;

/// <summary>Every public instance member of every handle type, with a call that works while the handle can be used.</summary>
internal static partial class HandleTable
{
    private const string Bytes = "ReadOnlySpan<Byte>";

    private static readonly byte[] Key = HandleSet.Key;
    private static readonly byte[] NewKey = HandleSet.NewKey;

    public static IReadOnlyList<HandleRow<ReadTransaction>> ReadTransaction { get; } =
    [
        new("TransactionId", handle => _ = handle.TransactionId),
        new("OpenTree(String)", handle => handle.OpenTree(HandleSet.TreeName)),
        new("TryOpenTree(String, Tree)", handle => handle.TryOpenTree(HandleSet.TreeName, out _)),
        new("OpenFixedTree(String)", handle => handle.OpenFixedTree(HandleSet.FixedName)),
        new("OpenFixedTree<T>(String)", handle => handle.OpenFixedTree<long>(HandleSet.FixedName)),
        new("TryOpenFixedTree(String, FixedTree)", handle => handle.TryOpenFixedTree(HandleSet.FixedName, out _)),
        new("OpenIdTree(String)", handle => handle.OpenIdTree(HandleSet.IdsName)),
        new("TryOpenIdTree(String, IdTree)", handle => handle.TryOpenIdTree(HandleSet.IdsName, out _)),
        new("OpenValueSetTree(String)", handle => handle.OpenValueSetTree(HandleSet.ValueSetsName)),
        new("TryOpenValueSetTree(String, ValueSetTree)", handle => handle.TryOpenValueSetTree(HandleSet.ValueSetsName, out _)),
        new("GetTreeNames()", handle => handle.GetTreeNames()),
        new("GetDroppedTrees()", handle => handle.GetDroppedTrees()),
        new("GetValueCompression(String)", handle => handle.GetValueCompression(HandleSet.TreeName)),
        new("GetCompressionStatistics(String, CancellationToken)", handle => handle.GetCompressionStatistics(HandleSet.TreeName)),
        new("TryGetState<T>(CommitStateKey<T>, T)", handle => handle.TryGetState(HandleSet.StateKey, out _)),
        new("Fork()", handle => handle.Fork().Dispose())
        {
            Unusual = new Dictionary<HandleState, Outcome> { [HandleState.EnvironmentClosed] = Outcome.EnvironmentClosed },
        },
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteTransaction>> WriteTransaction { get; } =
    [
        new("TransactionId", handle => _ = handle.TransactionId),
        new("Durability", handle => _ = handle.Durability),
        new("Durability=", handle => handle.Durability = Durability.Lazy),
        new("CreateTree(String)", handle => handle.CreateTree("created")),
        new("OpenTree(String)", handle => handle.OpenTree(HandleSet.TreeName)),
        new("TryOpenTree(String, WriteTree)", handle => handle.TryOpenTree(HandleSet.TreeName, out _)),
        new("CreateFixedTree(String, Int32)", handle => handle.CreateFixedTree("fixed", sizeof(long))),
        new("CreateFixedTree<T>(String)", handle => handle.CreateFixedTree<long>("fixed")),
        new("OpenFixedTree(String)", handle => handle.OpenFixedTree(HandleSet.FixedName)),
        new("OpenFixedTree<T>(String)", handle => handle.OpenFixedTree<long>(HandleSet.FixedName)),
        new("TryOpenFixedTree(String, WriteFixedTree)", handle => handle.TryOpenFixedTree(HandleSet.FixedName, out _)),
        new("CreateIdTree(String)", handle => handle.CreateIdTree("ids")),
        new("CreateValueSetTree(String)", handle => handle.CreateValueSetTree("value sets")),
        new("OpenIdTree(String)", handle => handle.OpenIdTree(HandleSet.IdsName)),
        new("TryOpenIdTree(String, WriteIdTree)", handle => handle.TryOpenIdTree(HandleSet.IdsName, out _)),
        new("OpenValueSetTree(String)", handle => handle.OpenValueSetTree(HandleSet.ValueSetsName)),
        new("TryOpenValueSetTree(String, WriteValueSetTree)", handle => handle.TryOpenValueSetTree(HandleSet.ValueSetsName, out _)),
        new("DeleteTree(String)", handle => handle.DeleteTree("created")),
        new("CompressValues(String, ValueCompression)", handle => handle.CompressValues(HandleSet.TreeName, ValueCompression.None)),
        new("GetValueCompression(String)", handle => handle.GetValueCompression(HandleSet.TreeName)),
        new("RenameTree(String, String)", handle => handle.RenameTree("created", "renamed")),
        new("GetTreeNames()", handle => handle.GetTreeNames()),
        new("SetState<T>(CommitStateKey<T>, T)", handle => handle.SetState(HandleSet.StateKey, "state")),
        new("TryGetState<T>(CommitStateKey<T>, T)", handle => handle.TryGetState(HandleSet.StateKey, out _)),
        new("CreateSavepoint()", handle => handle.CreateSavepoint().Dispose()),
        new("BeginNested()", handle => handle.BeginNested().Dispose()),
        new("Commit()", handle => handle.Commit()) { Unusual = RefusedCommit },
        new("CommitAsync(CancellationToken)", handle => handle.CommitAsync().AsTask().GetAwaiter().GetResult()) { Unusual = RefusedCommit },
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<Tree>> Tree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("Name", handle => _ = handle.Name),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new($"TryGet({Bytes}, {Bytes})", handle => handle.TryGet(Key, out _)),
        new("GetMany(LookupBatch)", handle => handle.GetMany(new LookupBatch())),
        new($"Contains({Bytes})", handle => handle.Contains(Key)),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new($"TryGet({Bytes}, IBufferWriter<Byte>)", handle => handle.TryGet(Key, new ArrayBufferWriter<byte>())),
        new($"TryCopyTo({Bytes}, Span<Byte>, Int32)", handle => handle.TryCopyTo(Key, new byte[1], out _)),
        new($"Get({Bytes})", handle => handle.Get(Key)),
        new($"TryGetLength({Bytes}, Int64)", handle => handle.TryGetLength(Key, out _)),
        new($"TryGetEntry({Bytes}, TreeEntry)", handle => handle.TryGetEntry(Key, out _)),
        new($"TryGetFloor({Bytes}, TreeEntry)", handle => handle.TryGetFloor(Key, out _)),
        new($"TryGetCeiling({Bytes}, TreeEntry)", handle => handle.TryGetCeiling(Key, out _)),
        new("TryGetFirst(TreeEntry)", handle => handle.TryGetFirst(out _)),
        new("TryGetLast(TreeEntry)", handle => handle.TryGetLast(out _)),
        new("Range(KeyRange)", handle => handle.Range(KeyRange.From(Key)).Any()),
        new($"Prefix({Bytes})", handle => handle.Prefix(Key).Any()),
        new("GetEntries()", handle => handle.GetEntries().Any()),
        new($"TryOpenStream({Bytes}, Stream)", handle => handle.TryOpenStream(Key, out _)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteTree>> WriteTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("Name", handle => _ = handle.Name),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("AsReadOnly()", handle => handle.AsReadOnly()) { WorksAlways = true },
        new("ToTree()", handle => handle.ToTree()) { WorksAlways = true },
        new($"TryGet({Bytes}, {Bytes})", handle => handle.TryGet(Key, out _)),
        new("GetMany(LookupBatch)", handle => handle.GetMany(new LookupBatch())),
        new($"Contains({Bytes})", handle => handle.Contains(Key)),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new($"TryGet({Bytes}, IBufferWriter<Byte>)", handle => handle.TryGet(Key, new ArrayBufferWriter<byte>())),
        new($"TryCopyTo({Bytes}, Span<Byte>, Int32)", handle => handle.TryCopyTo(Key, new byte[1], out _)),
        new($"Get({Bytes})", handle => handle.Get(Key)),
        new($"TryGetLength({Bytes}, Int64)", handle => handle.TryGetLength(Key, out _)),
        new($"TryGetEntry({Bytes}, TreeEntry)", handle => handle.TryGetEntry(Key, out _)),
        new($"TryGetFloor({Bytes}, TreeEntry)", handle => handle.TryGetFloor(Key, out _)),
        new($"TryGetCeiling({Bytes}, TreeEntry)", handle => handle.TryGetCeiling(Key, out _)),
        new("TryGetFirst(TreeEntry)", handle => handle.TryGetFirst(out _)),
        new("TryGetLast(TreeEntry)", handle => handle.TryGetLast(out _)),
        new("Range(KeyRange)", handle => handle.Range(KeyRange.From(Key)).Any()),
        new($"Prefix({Bytes})", handle => handle.Prefix(Key).Any()),
        new("GetEntries()", handle => handle.GetEntries().Any()),
        new($"TryOpenStream({Bytes}, Stream)", handle => handle.TryOpenStream(Key, out _)),
        new($"Put({Bytes}, {Bytes})", handle => handle.Put(NewKey, Key)),
        new($"Put({Bytes}, StagedValue)", PutForeign),
        new($"Insert({Bytes}, {Bytes})", handle => handle.Insert(NewKey, Key)),
        new($"Reserve({Bytes}, Int32)", handle => handle.Reserve(NewKey, 3).Clear()),
        new(
            "PutAsync(ReadOnlyMemory<Byte>, Stream, CancellationToken)",
            handle => handle.PutAsync(NewKey, new MemoryStream(3)).AsTask().GetAwaiter().GetResult()),
        new(
            "PutAsync(ReadOnlyMemory<Byte>, PipeReader, CancellationToken)",
            handle => handle.PutAsync(NewKey, System.IO.Pipelines.PipeReader.Create(new MemoryStream(3))).AsTask().GetAwaiter().GetResult()),
        new($"Delete({Bytes})", handle => handle.Delete(NewKey)),
        new("DeleteRange(KeyRange)", handle => handle.DeleteRange(KeyRange.From(NewKey))),
        new($"Exchange({Bytes}, {Bytes})", handle => handle.Exchange(NewKey, Key)),
        new($"Exchange({Bytes}, {Bytes}, IBufferWriter<Byte>)", handle => handle.Exchange(NewKey, Key, new ArrayBufferWriter<byte>())),
        new($"Remove({Bytes})", handle => handle.Remove(NewKey)),
        new($"Remove({Bytes}, IBufferWriter<Byte>)", handle => handle.Remove(NewKey, new ArrayBufferWriter<byte>())),
        new($"CompareExchange({Bytes}, {Bytes}, {Bytes})", handle => handle.CompareExchange(NewKey, Key, Key)),
        new($"CompareExchange({Bytes}, {Bytes}, Byte[])", handle => handle.CompareExchange(NewKey, Key, (byte[]?)null)),
        new($"DeleteIf({Bytes}, {Bytes})", handle => handle.DeleteIf(NewKey, Key)),
        new($"Increment({Bytes}, Int64)", handle => handle.Increment([201])),
        new($"Add({Bytes}, Int64)", handle => handle.Add([201], 1)),
        new($"OpenWriter({Bytes})", handle => handle.OpenWriter(NewKey).Dispose()),
        new("Clear()", ClearAndRestore),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<Cursor>> Cursor { get; } =
    [
        new("IsOnEntry", handle => _ = handle.IsOnEntry),
        new("Key", handle => _ = handle.Key.Length),
        new("Value", handle => _ = handle.Value.Length),
        new("ValueLength", handle => _ = handle.ValueLength),
        new("Entry", handle => _ = handle.Entry.ValueLength),
        new($"Seek({Bytes})", handle => handle.Seek(Key)),
        new($"SeekExact({Bytes})", handle => handle.SeekExact(Key)),
        new($"SeekForPrevious({Bytes})", handle => handle.SeekForPrevious(Key)),
        new("SeekFirst()", handle => handle.SeekFirst()),
        new("SeekLast()", handle => handle.SeekLast()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("MovePrevious()", handle => handle.MovePrevious()),
        new("Delete()", handle => DeleteIn(handle)),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<ValueWriter>> ValueWriter { get; } =
    [
        new("WrittenCount", handle => _ = handle.WrittenCount),
        new("GetMemory(Int32)", handle => handle.GetMemory()),
        new("GetSpan(Int32)", handle => handle.GetSpan()[0] = 1),
        new("Advance(Int32)", handle => handle.Advance(1)),
        new($"Write({Bytes})", handle => handle.Write(Key)),
        new("Complete()", handle => handle.Complete()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<StagedValue>> StagedValue { get; } =
    [
        new("Length", handle => _ = handle.Length) { WorksAlways = true },
        new("State", handle => _ = handle.State) { WorksAlways = true },
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<BulkLoad>> BulkLoad { get; } =
    [
        new($"Put({Bytes}, {Bytes})", handle => handle.Put(Key, Key)),
        new("CompleteAsync(CancellationToken)", handle => handle.CompleteAsync().AsTask().GetAwaiter().GetResult()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<Savepoint>> Savepoint { get; } =
    [
        new("Rollback()", handle => handle.Rollback()),
        new("Release()", handle => handle.Release()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<NestedTransaction>> NestedTransaction { get; } =
    [
        new("Commit()", handle => handle.Commit()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<LookupBatch>> LookupBatch { get; } =
    [
        new("Count", handle => _ = handle.Count) { WorksAlways = true },
        new("Key(Int32)", handle => _ = handle.Key(0).Length) { WorksAlways = true },
        new($"TryGetValue(Int32, {Bytes})", handle => handle.TryGetValue(0, out _)),
        new($"Add({Bytes})", handle => handle.Add(Key)) { WorksAlways = true },
        new("Clear()", handle => handle.Clear()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<TreeRange>> TreeRange { get; } =
    [
        new("Reverse()", handle => handle.Reverse()) { WorksAlways = true },
        new("Skip(Int64)", handle => handle.Skip(1)) { WorksAlways = true },
        new("Take(Int64)", handle => handle.Take(1)) { WorksAlways = true },
        new("Count()", handle => handle.Count()),
        new("Any()", handle => handle.Any()),
        new("TryGetFirst(TreeEntry)", handle => handle.TryGetFirst(out _)),
        new("TryGetLast(TreeEntry)", handle => handle.TryGetLast(out _)),
        new("GetEnumerator()", handle => handle.GetEnumerator().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<TreeRange.Enumerator>> Enumerator { get; } =
    [
        new("Current", handle => _ = handle.Current.ValueLength)
        {
            Unusual = new Dictionary<HandleState, Outcome> { [HandleState.Default] = Outcome.NoEntry, [HandleState.Disposed] = Outcome.NoEntry },
        },
        new("MoveNext()", handle => handle.MoveNext()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<TreeEntry>> TreeEntry { get; } =
    [
        new("Key", handle => _ = handle.Key.Length),
        new("Value", handle => _ = handle.Value.Length),
        new("ValueLength", handle => _ = handle.ValueLength),
        new("CopyValueTo(IBufferWriter<Byte>)", handle => handle.CopyValueTo(new ArrayBufferWriter<byte>())),
        new("TryCopyValueTo(Span<Byte>, Int32)", handle => handle.TryCopyValueTo(new byte[1], out _)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    /// <summary>The members that the stream of a value overrides.</summary>
    public static IReadOnlyList<HandleRow<Stream>> Stream { get; } =
    [
        new("CanRead", handle => _ = handle.CanRead) { WorksAlways = true },
        new("CanSeek", handle => _ = handle.CanSeek) { WorksAlways = true },
        new("CanWrite", handle => handle.CanWrite.Should().BeFalse()) { WorksAlways = true },
        new("Length", handle => _ = handle.Length),
        new("Position", handle => _ = handle.Position),
        new("Position=", handle => handle.Position = 0),
        new("Read(Span<Byte>)", handle => handle.ReadAtLeast(new byte[1], 1, throwOnEndOfStream: false)),
        new("Read(Byte[], Int32, Int32)", handle => handle.ReadByte()),
        new("ReadAsync(Memory<Byte>, CancellationToken)", handle => handle.ReadAsync(new byte[1].AsMemory()).AsTask().GetAwaiter().GetResult()),
        new(
            "ReadAsync(Byte[], Int32, Int32, CancellationToken)",
            handle => handle.ReadAsync(new byte[1].AsMemory(0, 1)).AsTask().GetAwaiter().GetResult()),
        new("CopyTo(Stream, Int32)", handle => handle.CopyTo(new MemoryStream())),
        new("CopyToAsync(Stream, Int32, CancellationToken)", handle => handle.CopyToAsync(new MemoryStream()).GetAwaiter().GetResult()),
        new("Seek(Int64, SeekOrigin)", handle => handle.Seek(0, SeekOrigin.Begin)),
        new("Flush()", handle => handle.Flush()) { WorksAlways = true },
        new("SetLength(Int64)", handle => handle.SetLength(1)) { Unusual = AlwaysNotSupported },
        new("Write(Byte[], Int32, Int32)", handle => handle.Write(new byte[1], 0, 1)) { Unusual = AlwaysNotSupported },
    ];

    public static IReadOnlyList<HandleRow<StorageEnvironment>> StorageEnvironment { get; } =
    [
        new("Path", handle => handle.Path.Should().NotBeNull()) { WorksAlways = true },
        new("Name", handle => handle.Name.Should().NotBeEmpty()) { WorksAlways = true },
        new("Options", handle => handle.Options.Should().NotBeNull()) { WorksAlways = true },
        new("Recovery", handle => handle.Recovery.Should().NotBeNull()) { WorksAlways = true },
        new("MaxKeyLength", handle => handle.MaxKeyLength.Should().BePositive()) { WorksAlways = true },
        new("BeginRead()", handle => handle.BeginRead().Dispose()),
        new("BeginWrite()", handle => handle.BeginWrite().Dispose()),
        new("BeginWrite(TimeSpan, CancellationToken)", handle => handle.BeginWrite(TimeSpan.FromSeconds(30)).Dispose()),
        new("BeginWriteAsync(CancellationToken)", handle => handle.BeginWriteAsync().AsTask().GetAwaiter().GetResult().Dispose()),
        new(
            "StageAsync(Stream, CancellationToken)",
            handle => handle.StageAsync(new MemoryStream(Key)).AsTask().GetAwaiter().GetResult().Dispose()),
        new(
            "StageAsync(PipeReader, CancellationToken)",
            handle => handle.StageAsync(System.IO.Pipelines.PipeReader.Create(new MemoryStream(Key))).AsTask().GetAwaiter().GetResult().Dispose()),
        new(
            "BeginBulkLoadAsync(String, BulkLoadOptions, CancellationToken)",
            handle => handle.BeginBulkLoadAsync("loaded").AsTask().GetAwaiter().GetResult().Dispose()),
        new(
            "BulkLoadAsync(String, IEnumerable<ValueTuple<ReadOnlyMemory<Byte>, ReadOnlyMemory<Byte>>>, BulkLoadOptions, CancellationToken)",
            handle => handle.BulkLoadAsync("loaded", Array.Empty<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)>()).AsTask().GetAwaiter().GetResult()),
        new(
            "BulkLoadAsync(String, IAsyncEnumerable<ValueTuple<ReadOnlyMemory<Byte>, ReadOnlyMemory<Byte>>>, BulkLoadOptions, CancellationToken)",
            handle => handle.BulkLoadAsync("loaded", AsyncEnumerable.Empty<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)>())
                .AsTask().GetAwaiter().GetResult()),
        new("BackupAsync(String, BackupOptions, CancellationToken)", handle => InNewDirectory(path => handle.BackupAsync(Path.Combine(path, "a")))),
        new("BackupAsync(Stream, BackupOptions, CancellationToken)", handle => handle.BackupAsync(System.IO.Stream.Null).AsTask().GetAwaiter().GetResult()),
        new(
            "BackupAsync(PipeWriter, BackupOptions, CancellationToken)",
            handle => handle.BackupAsync(System.IO.Pipelines.PipeWriter.Create(System.IO.Stream.Null)).AsTask().GetAwaiter().GetResult()),
        new("CompactAsync(CompactionOptions, CancellationToken)", handle => handle.CompactAsync().AsTask().GetAwaiter().GetResult()),
        new(
            "TrainDictionaryAsync(String, CancellationToken)",
            handle => handle.TrainDictionaryAsync(HandleSet.TreeName).AsTask().GetAwaiter().GetResult()),
        new("RecompressAsync(String, CancellationToken)", handle => handle.RecompressAsync(HandleSet.TreeName).AsTask().GetAwaiter().GetResult()),
        new("DropTreeAsync(String, CancellationToken)", handle => handle.DropTreeAsync("missing").AsTask().GetAwaiter().GetResult()),
        new("CompactToAsync(String, CompactionOptions, CancellationToken)", handle => InNewDirectory(path => handle.CompactToAsync(path))),
        new("CopyToAsync(String, CopyOptions, CancellationToken)", handle => InNewDirectory(path => handle.CopyToAsync(path))),
        new("Flush()", handle => handle.Flush()),
        new("ReclaimSpace()", handle => handle.ReclaimSpace()),
        new("Verify()", handle => handle.Verify()),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("Write(Action<WriteTransaction>)", handle => handle.Write(_ => { })),
        new("Write<T>(Func<WriteTransaction, T>)", handle => handle.Write(_ => 5)),
        new("Write<TState>(TState, Action<WriteTransaction, TState>)", handle => handle.Write(5, (_, _) => { })),
        new("Write<TState, TResult>(TState, Func<WriteTransaction, TState, TResult>)", handle => handle.Write(5, (_, state) => state)),
        new("Write(Func<WriteTransaction, WriteTransaction>)", handle => handle.Write(writing => writing)),
        new(
            "Write<TState>(TState, Func<WriteTransaction, TState, WriteTransaction>)",
            handle => handle.Write(5, (writing, _) => writing)),
        new("WriteAsync(Action<WriteTransaction>, CancellationToken)", handle => Await(handle.WriteAsync(_ => { }))),
        new("WriteAsync<T>(Func<WriteTransaction, T>, CancellationToken)", handle => Await(handle.WriteAsync(_ => 5))),
        new("WriteAsync<TState>(TState, Action<WriteTransaction, TState>, CancellationToken)", handle => Await(handle.WriteAsync(5, (_, _) => { }))),
        new(
            "WriteAsync<TState, TResult>(TState, Func<WriteTransaction, TState, TResult>, CancellationToken)",
            handle => Await(handle.WriteAsync(5, (_, state) => state))),
        new("WriteAsync(Func<WriteTransaction, WriteTransaction>, CancellationToken)", handle => Await(handle.WriteAsync(writing => writing))),
        new(
            "WriteAsync<TState>(TState, Func<WriteTransaction, TState, WriteTransaction>, CancellationToken)",
            handle => Await(handle.WriteAsync(5, (writing, _) => writing))),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("DisposeAsync()", handle => Await(handle.DisposeAsync())) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    private static Dictionary<HandleState, Outcome> RefusedCommit => new() { [HandleState.EnvironmentClosed] = Outcome.EnvironmentClosed };

    private static Dictionary<HandleState, Outcome> AlwaysNotSupported =>
        Enum.GetValues<HandleState>().ToDictionary(state => state, _ => Outcome.NotSupported);

    private static void Await(ValueTask task) => task.AsTask().GetAwaiter().GetResult();

    private static void Await<T>(ValueTask<T> task) => task.AsTask().GetAwaiter().GetResult();

    // A value of another environment is refused, but only while the tree can be used.
    private static void PutForeign(WriteTree tree)
    {
        try
        {
            tree.Put(NewKey, HandleSet.Foreign);
        }
        catch (ArgumentException e) when (e.ParamName == "value")
        {
            tree.Contains(NewKey).Should().BeTrue("the row before it has put the key");
        }
    }

    // The rows after it, and those of other handles, find the tree as it was.
    private static void ClearAndRestore(WriteTree tree)
    {
        tree.Clear();
        HandleSet.Fill(tree);
    }

    // In a read transaction, the call is refused for that reason, but only while the cursor can be used.
    private static void DeleteIn(Cursor cursor)
    {
        try
        {
            cursor.Delete();
        }
        catch (InvalidOperationException e) when (e.Message.Contains("read transaction and cannot", StringComparison.Ordinal))
        {
            cursor.IsOnEntry.Should().BeTrue();
        }
    }

    private static void InNewDirectory<T>(Func<string, ValueTask<T>> backUp)
    {
        using var place = new TemporaryDirectory();
        backUp(place.Path).AsTask().GetAwaiter().GetResult();
    }
}
