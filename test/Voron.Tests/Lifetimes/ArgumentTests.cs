using System.Buffers;
using System.IO.Pipelines;
using Voron.Tables;
using Voron.Tests.Tables;

namespace Voron.Tests.Lifetimes;

/// <summary>
/// Every public method with parameters, called with arguments that do not fit: the exception names the parameter that the caller wrote, and
/// nothing has changed. A method without a row, or a reason to have none, fails.
/// </summary>
[Quick]
public sealed partial class ArgumentTests
{
    private const string Bytes = "ReadOnlySpan<Byte>";

    private static readonly string TooLongName = new('n', 256);
    private static readonly byte[] TooLongKey = new byte[5000];

    /// <summary>
    /// Methods that take any argument: a key that cannot be in the tree is not found, and the end of a range may be before its start.
    /// </summary>
    private static readonly string[] AnyArgumentFits =
    [
        .. new[] { "Tree", "WriteTree" }.SelectMany(tree => new[]
        {
            $"{tree}.TryGet({Bytes}, {Bytes})", $"{tree}.Get({Bytes})", $"{tree}.TryCopyTo({Bytes}, Span<Byte>, Int32)", $"{tree}.Contains({Bytes})",
            $"{tree}.TryGetLength({Bytes}, Int64)", $"{tree}.TryGetEntry({Bytes}, TreeEntry)", $"{tree}.TryGetFloor({Bytes}, TreeEntry)",
            $"{tree}.TryGetCeiling({Bytes}, TreeEntry)", $"{tree}.TryGetFirst(TreeEntry)", $"{tree}.TryGetLast(TreeEntry)",
            $"{tree}.Range(KeyRange)", $"{tree}.Prefix({Bytes})", $"{tree}.TryOpenStream({Bytes}, Stream)",
        }),
        $"WriteTree.Delete({Bytes})", $"WriteTree.Remove({Bytes})", $"WriteTree.DeleteIf({Bytes}, {Bytes})",
        "WriteTree.DeleteRange(KeyRange)", $"ValueWriter.Write({Bytes})",
        $"Cursor.Seek({Bytes})", $"Cursor.SeekExact({Bytes})", $"Cursor.SeekForPrevious({Bytes})",
        $"LookupBatch.Add({Bytes})", "WriteTransaction.CommitAsync(CancellationToken)", "StorageEnvironment.BeginWriteAsync(CancellationToken)",
        .. AnyFixedKeyFits,
        .. AnyIdFits,
        .. AnyValueFits,
        .. AnyRowFits,
        "TreeRange.TryGetFirst(TreeEntry)", "TreeRange.TryGetLast(TreeEntry)", "TreeEntry.TryCopyValueTo(Span<Byte>, Int32)",
    ];

    public static TheoryData<string> Members => [.. Rows.Select(row => row.Member).Distinct()];

    private static IReadOnlyList<ArgumentRow> Rows { get; } =
    [
        .. Names("ReadTransaction.OpenTree(String)", "name", (place, name) => place.Reading.OpenTree(name)),
        .. Names("ReadTransaction.TryOpenTree(String, Tree)", "name", (place, name) => place.Reading.TryOpenTree(name, out _)),
        .. Names("WriteTransaction.CreateTree(String)", "name", (place, name) => place.Writing.CreateTree(name)),
        .. Names("WriteTransaction.OpenTree(String)", "name", (place, name) => place.Writing.OpenTree(name)),
        .. Names("WriteTransaction.TryOpenTree(String, WriteTree)", "name", (place, name) => place.Writing.TryOpenTree(name, out _)),
        .. CompressionRows,
        .. Names("WriteTransaction.DeleteTree(String)", "name", (place, name) => place.Writing.DeleteTree(name)),
        .. Names("WriteTransaction.RenameTree(String, String)", "name", (place, name) => place.Writing.RenameTree(name, "new")),
        .. Names("WriteTransaction.RenameTree(String, String)", "newName", (place, name) => place.Writing.RenameTree(HandleSet.TreeName, name)),
        new(
            "WriteTransaction.RenameTree(String, String)", "newName", typeof(ArgumentException),
            place => place.Writing.RenameTree(HandleSet.TreeName, "other")),
        new("ReadTransaction.TryGetState<T>(CommitStateKey<T>, T)", "key", typeof(ArgumentNullException),
            place => place.Reading.TryGetState<string>(null!, out _)),
        new("WriteTransaction.TryGetState<T>(CommitStateKey<T>, T)", "key", typeof(ArgumentNullException),
            place => place.Writing.TryGetState<string>(null!, out _)),
        new("WriteTransaction.SetState<T>(CommitStateKey<T>, T)", "key", typeof(ArgumentNullException),
            place => place.Writing.SetState<string>(null!, "state")),
        .. FixedTrees,
        .. IdTrees,
        .. ValueSetTreeRows,
        .. Tables,
        .. Keys($"WriteTree.Put({Bytes}, {Bytes})", (place, key) => place.WriteTree.Put(key, [1])),
        .. Keys($"WriteTree.Put({Bytes}, StagedValue)", (place, key) => place.WriteTree.Put(key, HandleSet.Foreign)),
        new($"WriteTree.Put({Bytes}, StagedValue)", "value", typeof(ArgumentNullException), place => place.WriteTree.Put([1], (StagedValue)null!)),
        new($"WriteTree.Put({Bytes}, StagedValue)", "value", typeof(ArgumentException), place => place.WriteTree.Put([1], HandleSet.Foreign)),
        new("StorageEnvironment.StageAsync(Stream, CancellationToken)", "source", typeof(ArgumentNullException),
            place => Await(place.Environment.StageAsync((Stream)null!))),
        new("StorageEnvironment.StageAsync(Stream, CancellationToken)", "source", typeof(ArgumentException),
            place => Await(place.Environment.StageAsync(ClosedStream()))),
        new("StorageEnvironment.StageAsync(PipeReader, CancellationToken)", "source", typeof(ArgumentNullException),
            place => Await(place.Environment.StageAsync((PipeReader)null!))),
        new("StorageEnvironment.BeginBulkLoadAsync(String, BulkLoadOptions, CancellationToken)", "name", typeof(ArgumentNullException),
            place => Await(place.Environment.BeginBulkLoadAsync(null!))),
        new("StorageEnvironment.BeginBulkLoadAsync(String, BulkLoadOptions, CancellationToken)", "name", typeof(ArgumentException),
            place => Await(place.Environment.BeginBulkLoadAsync(""))),
        new("StorageEnvironment.BeginBulkLoadAsync(String, BulkLoadOptions, CancellationToken)", "options", typeof(ArgumentException),
            place => Await(place.Environment.BeginBulkLoadAsync("a", new BulkLoadOptions { MemoryBytes = 1 }))),
        new(
            "StorageEnvironment.BulkLoadAsync(String, IEnumerable<ValueTuple<ReadOnlyMemory<Byte>, ReadOnlyMemory<Byte>>>, " +
            "BulkLoadOptions, CancellationToken)",
            "entries", typeof(ArgumentNullException),
            place => Await(place.Environment.BulkLoadAsync("a", (IEnumerable<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)>)null!))),
        new(
            "StorageEnvironment.BulkLoadAsync(String, IAsyncEnumerable<ValueTuple<ReadOnlyMemory<Byte>, ReadOnlyMemory<Byte>>>, " +
            "BulkLoadOptions, CancellationToken)",
            "entries", typeof(ArgumentNullException),
            place => Await(place.Environment.BulkLoadAsync("a", (IAsyncEnumerable<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)>)null!))),
        .. Backups("BackupAsync(String, BackupOptions, CancellationToken)", (place, options) => place.Environment.BackupAsync("a", options)),
        .. Backups(
            "BackupAsync(Stream, BackupOptions, CancellationToken)", (place, options) => place.Environment.BackupAsync(Stream.Null, options)),
        .. Backups(
            "BackupAsync(PipeWriter, BackupOptions, CancellationToken)",
            (place, options) => place.Environment.BackupAsync(PipeWriter.Create(Stream.Null), options)),
        new("StorageEnvironment.BackupAsync(String, BackupOptions, CancellationToken)", "file", typeof(ArgumentNullException),
            place => Await(place.Environment.BackupAsync((string)null!))),
        new("StorageEnvironment.BackupAsync(String, BackupOptions, CancellationToken)", "file", typeof(ArgumentException),
            place => Await(place.Environment.BackupAsync(""))),
        new("StorageEnvironment.BackupAsync(Stream, BackupOptions, CancellationToken)", "target", typeof(ArgumentNullException),
            place => Await(place.Environment.BackupAsync((Stream)null!))),
        new("StorageEnvironment.BackupAsync(Stream, BackupOptions, CancellationToken)", "target", typeof(ArgumentException),
            place => Await(place.Environment.BackupAsync(ClosedStream()))),
        new("StorageEnvironment.BackupAsync(PipeWriter, BackupOptions, CancellationToken)", "target", typeof(ArgumentNullException),
            place => Await(place.Environment.BackupAsync((PipeWriter)null!))),
        new("StorageEnvironment.CopyToAsync(String, CopyOptions, CancellationToken)", "directory", typeof(ArgumentNullException),
            place => Await(place.Environment.CopyToAsync(null!))),
        new("StorageEnvironment.CopyToAsync(String, CopyOptions, CancellationToken)", "directory", typeof(ArgumentException),
            place => Await(place.Environment.CopyToAsync(""))),
        new("StorageEnvironment.CopyToAsync(String, CopyOptions, CancellationToken)", "options", typeof(ArgumentException),
            place => Await(place.Environment.CopyToAsync("a", new CopyOptions { MaxBytesPerSecond = -1 }))),
        new("StorageEnvironment.CompactAsync(CompactionOptions, CancellationToken)", "options", typeof(ArgumentException),
            place => Await(place.Environment.CompactAsync(new CompactionOptions { MaxBytesPerSecond = -1 }))),
        new("StorageEnvironment.CompactAsync(CompactionOptions, CancellationToken)", "options", typeof(ArgumentException),
            place => Await(place.Environment.CompactAsync(new CompactionOptions { ReaderPatience = TimeSpan.FromSeconds(-2) }))),
        new("StorageEnvironment.CompactToAsync(String, CompactionOptions, CancellationToken)", "directory", typeof(ArgumentNullException),
            place => Await(place.Environment.CompactToAsync(null!))),
        new("StorageEnvironment.CompactToAsync(String, CompactionOptions, CancellationToken)", "directory", typeof(ArgumentException),
            place => Await(place.Environment.CompactToAsync(""))),
        new("StorageEnvironment.CompactToAsync(String, CompactionOptions, CancellationToken)", "options", typeof(ArgumentException),
            place => Await(place.Environment.CompactToAsync("a", new CompactionOptions { MaxBytesPerSecond = -1 }))),
        new("StorageEnvironment.DropTreeAsync(String, CancellationToken)", "name", typeof(ArgumentNullException),
            place => Await(place.Environment.DropTreeAsync(null!))),
        new("StorageEnvironment.DropTreeAsync(String, CancellationToken)", "name", typeof(ArgumentException),
            place => Await(place.Environment.DropTreeAsync(""))),
        .. Keys($"WriteTree.Insert({Bytes}, {Bytes})", (place, key) => place.WriteTree.Insert(key, [1])),
        .. Keys($"WriteTree.Reserve({Bytes}, Int32)", (place, key) => place.WriteTree.Reserve(key, 1)),
        new($"WriteTree.Reserve({Bytes}, Int32)", "length", typeof(ArgumentOutOfRangeException), place => place.WriteTree.Reserve([1], -1)),
        new($"WriteTree.Reserve({Bytes}, Int32)", "length", typeof(ArgumentOutOfRangeException), place => place.WriteTree.Reserve([1], 1 << 20)),
        .. Keys($"WriteTree.Exchange({Bytes}, {Bytes})", (place, key) => place.WriteTree.Exchange(key, [1])),
        .. Keys(
            $"WriteTree.Exchange({Bytes}, {Bytes}, IBufferWriter<Byte>)",
            (place, key) => place.WriteTree.Exchange(key, [1], new ArrayBufferWriter<byte>())),
        new(
            $"WriteTree.Exchange({Bytes}, {Bytes}, IBufferWriter<Byte>)", "oldValue", typeof(ArgumentNullException),
            place => place.WriteTree.Exchange(HandleSet.Key, [1], null!)),
        new(
            $"WriteTree.Remove({Bytes}, IBufferWriter<Byte>)", "oldValue", typeof(ArgumentNullException),
            place => place.WriteTree.Remove(HandleSet.Key, null!)),
        .. Keys($"WriteTree.CompareExchange({Bytes}, {Bytes}, {Bytes})", (place, key) => place.WriteTree.CompareExchange(key, [1], [5])),
        .. Keys($"WriteTree.CompareExchange({Bytes}, {Bytes}, Byte[])", (place, key) => place.WriteTree.CompareExchange(key, [1], (byte[]?)null)),
        .. Keys($"WriteTree.Increment({Bytes}, Int64)", (place, key) => place.WriteTree.Increment(key)),
        .. Keys($"WriteTree.Add({Bytes}, Int64)", (place, key) => place.WriteTree.Add(key, 1)),
        .. Keys($"WriteTree.OpenWriter({Bytes})", (place, key) => place.WriteTree.OpenWriter(key)),
        new("ValueWriter.Advance(Int32)", "count", typeof(ArgumentOutOfRangeException), place => InWriter(place, writer => writer.Advance(-1))),
        new("ValueWriter.GetSpan(Int32)", "sizeHint", typeof(ArgumentOutOfRangeException), place => InWriter(place, writer => writer.GetSpan(-1))),
        new("ValueWriter.GetMemory(Int32)", "sizeHint", typeof(ArgumentOutOfRangeException), place => InWriter(place, writer => writer.GetMemory(-1))),
        .. Keys(
            "WriteTree.PutAsync(ReadOnlyMemory<Byte>, Stream, CancellationToken)", (place, key) => Await(place.WriteTree.PutAsync(key, Stream.Null))),
        new(
            "WriteTree.PutAsync(ReadOnlyMemory<Byte>, Stream, CancellationToken)", "value", typeof(ArgumentNullException),
            place => Await(place.WriteTree.PutAsync(new byte[1], (Stream)null!))),
        new(
            "WriteTree.PutAsync(ReadOnlyMemory<Byte>, Stream, CancellationToken)", "value", typeof(ArgumentException),
            place => Await(place.WriteTree.PutAsync(new byte[1], new LengthOnlyStream(1L << 31)))),
        new(
            "WriteTree.PutAsync(ReadOnlyMemory<Byte>, Stream, CancellationToken)", "value", typeof(ArgumentException),
            place => Await(place.WriteTree.PutAsync(new byte[1], ClosedStream()))),
        .. Keys(
            "WriteTree.PutAsync(ReadOnlyMemory<Byte>, PipeReader, CancellationToken)",
            (place, key) => Await(place.WriteTree.PutAsync(key, PipeReader.Create(Stream.Null)))),
        new(
            "WriteTree.PutAsync(ReadOnlyMemory<Byte>, PipeReader, CancellationToken)", "value", typeof(ArgumentNullException),
            place => Await(place.WriteTree.PutAsync(new byte[1], (PipeReader)null!))),
        new("Tree.GetMany(LookupBatch)", "batch", typeof(ArgumentNullException), place => place.Tree.GetMany(null!)),
        new("WriteTree.GetMany(LookupBatch)", "batch", typeof(ArgumentNullException), place => place.WriteTree.GetMany(null!)),
        new($"Tree.TryGet({Bytes}, IBufferWriter<Byte>)", "destination", typeof(ArgumentNullException),
            place => place.Tree.TryGet(HandleSet.Key, (IBufferWriter<byte>)null!)),
        new($"WriteTree.TryGet({Bytes}, IBufferWriter<Byte>)", "destination", typeof(ArgumentNullException),
            place => place.WriteTree.TryGet(HandleSet.Key, (IBufferWriter<byte>)null!)),
        new("TreeRange.Skip(Int64)", "count", typeof(ArgumentOutOfRangeException), place => place.Tree.GetEntries().Skip(-1)),
        new("TreeRange.Take(Int64)", "count", typeof(ArgumentOutOfRangeException), place => place.Tree.GetEntries().Take(-1)),
        new("TreeEntry.CopyValueTo(IBufferWriter<Byte>)", "destination", typeof(ArgumentNullException),
            place => FirstEntry(place.Tree).CopyValueTo(null!)),
        new("LookupBatch.Key(Int32)", "index", typeof(ArgumentOutOfRangeException), _ => Length(new LookupBatch().Key(0))),
        new("LookupBatch.Key(Int32)", "index", typeof(ArgumentOutOfRangeException), _ => Length(new LookupBatch().Key(-1))),
        new($"LookupBatch.TryGetValue(Int32, {Bytes})", "index",
            typeof(ArgumentOutOfRangeException), _ => new LookupBatch().TryGetValue(0, out var _)),
        new("StorageEnvironment.BeginWrite(TimeSpan, CancellationToken)", "timeout", typeof(ArgumentOutOfRangeException),
            place => place.Environment.BeginWrite(TimeSpan.FromMilliseconds(-2))),
        new("StorageEnvironment.Write(Action<WriteTransaction>)", "operation", typeof(ArgumentNullException),
            place => place.Environment.Write((Action<WriteTransaction>)null!)),
        new("StorageEnvironment.Write<T>(Func<WriteTransaction, T>)", "operation", typeof(ArgumentNullException),
            place => place.Environment.Write((Func<WriteTransaction, int>)null!)),
        new("StorageEnvironment.Write<TState>(TState, Action<WriteTransaction, TState>)", "operation", typeof(ArgumentNullException),
            place => place.Environment.Write(5, (Action<WriteTransaction, int>)null!)),
        new("StorageEnvironment.Write<TState, TResult>(TState, Func<WriteTransaction, TState, TResult>)", "operation", typeof(ArgumentNullException),
            place => place.Environment.Write(5, (Func<WriteTransaction, int, int>)null!)),
        new("StorageEnvironment.Write(Func<WriteTransaction, WriteTransaction>)", "operation", typeof(ArgumentNullException),
            place => place.Environment.Write((Func<WriteTransaction, WriteTransaction>)null!)),
        new("StorageEnvironment.Write<TState>(TState, Func<WriteTransaction, TState, WriteTransaction>)", "operation", typeof(ArgumentNullException),
            place => place.Environment.Write(5, (Func<WriteTransaction, int, WriteTransaction>)null!)),
        new("StorageEnvironment.WriteAsync(Action<WriteTransaction>, CancellationToken)", "operation", typeof(ArgumentNullException),
            place => Await(place.Environment.WriteAsync((Action<WriteTransaction>)null!))),
        new("StorageEnvironment.WriteAsync<T>(Func<WriteTransaction, T>, CancellationToken)", "operation", typeof(ArgumentNullException),
            place => Await(place.Environment.WriteAsync((Func<WriteTransaction, int>)null!))),
        new("StorageEnvironment.WriteAsync<TState>(TState, Action<WriteTransaction, TState>, CancellationToken)",
            "operation", typeof(ArgumentNullException),
            place => Await(place.Environment.WriteAsync(5, (Action<WriteTransaction, int>)null!))),
        new("StorageEnvironment.WriteAsync<TState, TResult>(TState, Func<WriteTransaction, TState, TResult>, CancellationToken)", "operation",
            typeof(ArgumentNullException), place => Await(place.Environment.WriteAsync(5, (Func<WriteTransaction, int, int>)null!))),
        new("StorageEnvironment.WriteAsync(Func<WriteTransaction, WriteTransaction>, CancellationToken)", "operation", typeof(ArgumentNullException),
            place => Await(place.Environment.WriteAsync((Func<WriteTransaction, WriteTransaction>)null!))),
        new("StorageEnvironment.WriteAsync<TState>(TState, Func<WriteTransaction, TState, WriteTransaction>, CancellationToken)", "operation",
            typeof(ArgumentNullException), place => Await(place.Environment.WriteAsync(5, (Func<WriteTransaction, int, WriteTransaction>)null!))),
    ];

    [Fact]
    public void Every_method_with_parameters_has_a_row()
    {
        Type[] types =
        [
            typeof(ReadTransaction), typeof(WriteTransaction), typeof(Tree), typeof(WriteTree), typeof(Cursor), typeof(Savepoint),
            typeof(NestedTransaction), typeof(LookupBatch), typeof(StorageEnvironment), typeof(TreeRange), typeof(TreeEntry),
            typeof(ValueWriter), typeof(FixedTree), typeof(WriteFixedTree), typeof(FixedCursor), typeof(IdTree), typeof(WriteIdTree),
            typeof(IdCursor), typeof(IdKeyCursor), typeof(IdQuery), typeof(ValueSetTree), typeof(WriteValueSetTree), typeof(ValueCursor),
            typeof(ValueSetCursor), .. TableHandles,
        ];
        var methods = types.SelectMany(type => HandleMembers.Of(type)
            .Where(member => member.Contains('(') && !member.EndsWith("()", StringComparison.Ordinal)).Select(member => $"{type.Name}.{member}"));
        methods.Should().BeEquivalentTo(Rows.Select(row => row.Member).Concat(AnyArgumentFits).Distinct());
    }

    [Theory]
    [MemberData(nameof(Members))]
    public void A_wrong_argument_is_named_as_the_caller_knows_it_and_nothing_changes(string member)
    {
        using var environment = HandleSet.OpenEnvironment();
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("other");
            writing.Commit();
        }

        var needsWriter = !member.StartsWith("StorageEnvironment", StringComparison.Ordinal);
        using (var reading = environment.BeginRead())
        {
            var writing = needsWriter ? environment.BeginWrite() : default;
            using var cursor = reading.OpenTree(HandleSet.TreeName).OpenCursor();
            var place = new ArgumentPlace(environment, reading, writing, cursor);
            foreach (var row in Rows.Where(row => row.Member == member))
            {
                var thrown = FluentActions.Invoking(() => row.Call(place)).Should().Throw<ArgumentException>(row.ToString()).Which;
                thrown.Should().BeOfType(row.Thrown, row.ToString());
                thrown.ParamName.Should().Be(row.Parameter, row.ToString());
            }

            if (needsWriter)
                writing.Commit();
        }

        using var after = environment.BeginRead();
        after.GetTreeNames().Should().Equal(HandleSet.TreeName, HandleSet.FixedName, "other", HandleSet.IdsName, HandleSet.ValueSetsName);
        after.OpenTree(HandleSet.TreeName).Count.Should().Be(99);
        after.OpenIdTree(HandleSet.IdsName).ValueCount.Should().Be(99);
        after.OpenValueSetTree(HandleSet.ValueSetsName).ValueCount.Should().Be(200);
        after.OpenTable(TableKit.Items).Count.Should().Be(99);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void The_static_methods_name_their_parameters_too()
    {
        FluentActions.Invoking(() => StorageEnvironment.Open(null!)).Should().Throw<ArgumentNullException>().Which.ParamName.Should().Be("directory");
        FluentActions.Invoking(() => StorageEnvironment.Open("")).Should().Throw<ArgumentException>().Which.ParamName.Should().Be("directory");
    }

    [Fact]
    public void A_position_of_a_stream_is_named_too()
    {
        using var environment = HandleSet.OpenEnvironment();
        using var reading = environment.BeginRead();
        reading.OpenTree(HandleSet.TreeName).TryOpenStream(HandleSet.Key, out var stream).Should().BeTrue();
        using (stream)
        {
            FluentActions.Invoking(() => stream!.Position = -1).Should().Throw<ArgumentOutOfRangeException>().Which.ParamName.Should().Be("value");
            FluentActions.Invoking(() => stream!.Seek(0, (SeekOrigin)7)).Should().Throw<ArgumentOutOfRangeException>().Which.ParamName
                .Should().Be("origin");
            FluentActions.Invoking(() => stream!.Seek(-3, SeekOrigin.End)).Should().Throw<ArgumentOutOfRangeException>()
                .WithMessage("*-3*End*2 bytes*").Which.ParamName.Should().Be("offset");
            FluentActions.Invoking(() => stream!.Seek(long.MaxValue, SeekOrigin.End)).Should().Throw<ArgumentOutOfRangeException>()
                .Which.ParamName.Should().Be("offset");
            FluentActions.Invoking(() => stream!.CopyTo(null!)).Should().Throw<ArgumentNullException>().Which.ParamName.Should().Be("destination");
            stream!.Position.Should().Be(0);
            stream.Seek(-1, SeekOrigin.End).Should().Be(1);
            stream.ReadByte().Should().Be(5);
        }
    }

    private static IEnumerable<ArgumentRow> Names(string member, string parameter, Action<ArgumentPlace, string> call) =>
    [
        new(member, parameter, typeof(ArgumentNullException), place => call(place, null!)),
        new(member, parameter, typeof(ArgumentException), place => call(place, "")),
        new(member, parameter, typeof(ArgumentException), place => call(place, TooLongName)),
        new(member, parameter, typeof(ArgumentException), place => call(place, "\ud800")),
    ];

    private static IEnumerable<ArgumentRow> Backups(string member, Func<ArgumentPlace, BackupOptions, ValueTask<BackupReport>> call) =>
    [
        new("StorageEnvironment." + member, "options", typeof(ArgumentException), place => Await(call(place, new() { MaxBytesPerSecond = -1 }))),
        new("StorageEnvironment." + member, "options", typeof(ArgumentException), place => Await(call(place, new() { Note = new('x', 65_537) }))),
    ];

    private static void InWriter(ArgumentPlace place, Action<ValueWriter> call)
    {
        using var writer = place.WriteTree.OpenWriter(HandleSet.NewKey);
        call(writer);
    }

    private static IEnumerable<ArgumentRow> Keys(string member, Action<ArgumentPlace, byte[]> call) =>
    [
        new(member, "key", typeof(ArgumentException), place => call(place, [])),
        new(member, "key", typeof(ArgumentException), place => call(place, TooLongKey)),
    ];

    private static void Await(ValueTask task) => task.AsTask().GetAwaiter().GetResult();

    private static void Await<T>(ValueTask<T> task) => task.AsTask().GetAwaiter().GetResult();

    private static TreeEntry FirstEntry(Tree tree)
    {
        tree.TryGetFirst(out var entry).Should().BeTrue();
        return entry;
    }

    private static int Length(ReadOnlySpan<byte> bytes) => bytes.Length;

    private static MemoryStream ClosedStream()
    {
        var stream = new MemoryStream();
        stream.Dispose();
        return stream;
    }

    /// <summary>A stream that claims a length, and has no bytes.</summary>
    private sealed class LengthOnlyStream(long length) : MemoryStream
    {
        public override long Length => length;
    }
}
