using System.Text;
using Voron.Tests.Staging;

namespace Voron.Tests.Loading;

/// <summary>Wrong calls of a bulk load, and changes of its tree meanwhile, are refused, and nothing is loaded.</summary>
[Quick]
public sealed class LoadMisuseTests : IDisposable
{
    private static readonly BulkLoadOptions Sorted = new() { Sorted = true };

    private readonly StorageEnvironment _environment = StagingTestKit.Open();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        StagingTestKit.CheckUnreserved(_environment);
        _environment.Dispose();
    }

    [Theory]
    [InlineData(DuplicateKeys.LastWins, "2")]
    [InlineData(DuplicateKeys.FirstWins, "1")]
    [InlineData(DuplicateKeys.Refuse, null)]
    public async Task The_options_decide_which_of_several_values_is_stored(DuplicateKeys duplicates, string? expected)
    {
        var entries = new[] { Entry("a", "1"), Entry("b", "1"), Entry("b", "2"), Entry("c", new string('x', 100_000)), Entry("c", "2") };
        var load = async () => await _environment.BulkLoadAsync("t", entries, new BulkLoadOptions { Sorted = true, Duplicates = duplicates }, Token);
        if (expected == null)
        {
            await load.Should().ThrowAsync<InvalidOperationException>().WithMessage("*'b'*Duplicates*");
            Names().Should().BeEmpty();
            return;
        }

        (await load()).EntriesStored.Should().Be(3);
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Get("b"u8).Should().Equal(Encoding.UTF8.GetBytes(expected));
        reading.OpenTree("t").Get("c"u8).Should().HaveCount(expected == "1" ? 100_000 : 1);
    }

    [Theory]
    [InlineData(DuplicateKeys.LastWins, "new", 3)]
    [InlineData(DuplicateKeys.FirstWins, "old", 3)]
    [InlineData(DuplicateKeys.Refuse, "old", 2)]
    public async Task Entries_of_the_tree_come_first(DuplicateKeys duplicates, string expected, int count)
    {
        _environment.Write(writing =>
        {
            writing.CreateTree("t").Put("b"u8, "old"u8);
            writing.OpenTree("t").Put("z"u8, "old"u8);
        });
        var options = new BulkLoadOptions { Sorted = true, Duplicates = duplicates };
        var load = async () => await _environment.BulkLoadAsync("t", [Entry("a", "new"), Entry("b", "new")], options, Token);
        if (duplicates == DuplicateKeys.Refuse)
            await load.Should().ThrowAsync<InvalidOperationException>().WithMessage("*'b'*");
        else
            (await load()).Should().Match<BulkLoadReport>(report => !report.IsAtomic && report.EntriesStored == count - (expected == "new" ? 1 : 2));
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(count);
        reading.OpenTree("t").Get("b"u8).Should().Equal(Encoding.UTF8.GetBytes(expected));
    }

    [Fact]
    public async Task Keys_that_no_tree_can_have_end_the_load()
    {
        foreach (var key in new[] { [], new byte[_environment.MaxKeyLength + 1] })
        {
            using var load = await _environment.BeginBulkLoadAsync("t", Sorted, Token);
            load.Put("a"u8, "1"u8);
            load.Invoking(at => at.Put(key, "2"u8)).Should().Throw<ArgumentException>().WithMessage("*1 to*");
            load.Invoking(at => at.Put("b"u8, "2"u8)).Should().Throw<InvalidOperationException>().WithMessage("*had ended*");
        }

        Names().Should().BeEmpty();
    }

    [Fact]
    public async Task A_key_out_of_order_is_named()
    {
        using var load = await _environment.BeginBulkLoadAsync("t", Sorted, Token);
        load.Put("b"u8, "1"u8);
        load.Invoking(at => at.Put("a"u8, "2"u8)).Should().Throw<InvalidOperationException>().WithMessage("*'t'*'a'*'b'*Sorted*");
        await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>();
        Names().Should().BeEmpty();
    }

    [Fact]
    public async Task Options_and_targets_that_are_not_valid_are_refused()
    {
        _environment.Write(writing => writing.CreateIdTree("ids"));
        var begin = async (string tree, BulkLoadOptions options) => await _environment.BeginBulkLoadAsync(tree, options, Token);
        await begin.Awaiting(call => call("ids", Sorted)).Should().ThrowAsync<InvalidOperationException>().WithMessage("*ids*");
        await begin.Awaiting(call => call("", Sorted)).Should().ThrowAsync<ArgumentException>();
        await begin.Awaiting(call => call("t", new() { MemoryBytes = 1000 })).Should().ThrowAsync<ArgumentException>()
            .WithMessage("*MemoryBytes*1000*");
        await begin.Awaiting(call => call("t", new() { Duplicates = (DuplicateKeys)3 })).Should().ThrowAsync<ArgumentException>()
            .WithMessage("*Duplicates*");
        await begin.Awaiting(call => call("t", new() { SpillDirectory = "/no/such/place" })).Should().ThrowAsync<StorageAccessException>()
            .WithMessage("*/no/such/place*");
        await _environment.Awaiting(at => at.BulkLoadAsync("t", ((IEnumerable<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)>)null!)!, Sorted, Token))
            .Should().ThrowAsync<ArgumentNullException>();
        using var canceled = new CancellationTokenSource();
        await canceled.CancelAsync();
        await _environment.Awaiting(at => at.BeginBulkLoadAsync("t", Sorted, canceled.Token)).Should().ThrowAsync<OperationCanceledException>();
        await _environment.WriteAsync(
            _ => _environment.Awaiting(at => at.BeginBulkLoadAsync("t", Sorted, Token))
                .Should().ThrowAsync<InvalidOperationException>().WithMessage("*group-commit*").GetAwaiter().GetResult(),
            Token);
        Names().Should().Equal("ids");
    }

    [Fact]
    public async Task Nothing_follows_a_load_that_is_complete_or_was_given_up()
    {
        using var load = await _environment.BeginBulkLoadAsync("t", Sorted, Token);
        load.Put("a"u8, "1"u8);
        (await load.CompleteAsync(Token)).EntriesStored.Should().Be(1);
        load.Invoking(at => at.Put("b"u8, "1"u8)).Should().Throw<InvalidOperationException>().WithMessage("*had ended*");
        await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>().WithMessage("*had ended*");
        load.Dispose();
        load.Dispose();
        load.Invoking(at => at.Put("b"u8, "1"u8)).Should().Throw<ObjectDisposedException>();
        var given = await _environment.BeginBulkLoadAsync("u", Sorted, Token);
        given.Put("a"u8, new byte[300_000]);
        _environment.GetStatistics().StagedBytes.Should().BePositive();
        given.Dispose();
        Names().Should().Equal("t");
    }

    [Fact]
    public void A_load_does_not_wait_for_a_transaction_of_its_own_thread()
    {
        var load = StagingTestKit.Wait(_environment.BeginBulkLoadAsync("t", Sorted, Token));

        // Not a thread of the pool, which may run other code when it comes back.
        new TestThread(() =>
        {
            using var writing = _environment.BeginWrite();
            load.Invoking(at => at.Put("a"u8, "1"u8)).Should().Throw<InvalidOperationException>().WithMessage("Put would wait for itself*");
        }).Join().Should().BeNull();
        load.Dispose();
        load = StagingTestKit.Wait(_environment.BeginBulkLoadAsync("t", Sorted, Token));
        _environment.Write(_ => load.Invoking(at => at.Put("a"u8, "1"u8)).Should().Throw<InvalidOperationException>().WithMessage("*group-commit*"));
        load.Dispose();
    }

    [Fact]
    public async Task Another_thread_may_give_a_load_up_but_not_use_it()
    {
        using var isEntered = new ManualResetEventSlim();
        using var mayGo = new ManualResetEventSlim();
        var load = await _environment.BeginBulkLoadAsync("t", new BulkLoadOptions
        {
            Sorted = true,
            Progress = new SynchronousProgress<BulkLoadProgress>(_ =>
            {
                isEntered.Set();
                mayGo.Wait(TestWait.Limit, Token).Should().BeTrue();
            }),
        }, Token);
        var putting = Task.Run(() =>
        {
            for (var i = 0; ; i++)
                load.Put(Encoding.ASCII.GetBytes($"{i:D8}"), "value"u8);
        }, Token);
        isEntered.Wait(TestWait.Limit, Token).Should().BeTrue();
        load.Invoking(at => at.Put("a"u8, "1"u8)).Should().Throw<InvalidOperationException>().WithMessage("*during another call*");
        load.Dispose();
        mayGo.Set();
        await putting.Awaiting(task => task).Should().ThrowAsync<ObjectDisposedException>();
        Names().Should().BeEmpty();
    }

    [Theory]
    [InlineData("create")]
    [InlineData("fill")]
    [InlineData("drop")]
    [InlineData("replace")]
    [InlineData("compress")]
    public async Task A_tree_that_changes_meanwhile_is_left_alone(string change)
    {
        if (change != "create")
            _environment.Write(writing => writing.CreateTree("t"));
        using var load = await _environment.BeginBulkLoadAsync("t", Sorted, Token);
        load.Put("a"u8, "1"u8);
        _environment.Write(writing =>
        {
            if (change is "drop" or "replace")
                writing.DeleteTree("t");
            if (change != "drop")
            {
                var tree = writing.CreateTree("t");
                if (change == "fill")
                    tree.Put("b"u8, "2"u8);
                if (change == "compress")
                    writing.CompressValues("t", ValueCompression.Fast);
            }
        });
        await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>().WithMessage("*'t'*changed*");
        using var reading = _environment.BeginRead();
        reading.TryOpenTree("t", out var tree).Should().Be(change != "drop");
        if (change != "drop")
            tree.Count.Should().Be(change == "fill" ? 1 : 0);
    }

    [Theory]
    [InlineData("drop")]
    [InlineData("replace")]
    [InlineData("rename")]
    public async Task A_tree_that_was_filled_and_then_replaced_is_not_filled_from_the_middle(string change)
    {
        _environment.Write(writing => writing.CreateTree("t").Put("a"u8, "1"u8));
        using var load = await _environment.BeginBulkLoadAsync("t", Sorted, Token);
        for (byte key = 1; key <= 6; key++)
            load.Put([(byte)'b', key], new byte[1 << 20]);
        _environment.Write(writing =>
        {
            if (change == "rename")
                writing.RenameTree("t", "u");
            else
                writing.DeleteTree("t");
            if (change == "replace")
                writing.CreateTree("t");
        });
        await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<InvalidOperationException>().WithMessage("*'t'*replaced*");
        using var reading = _environment.BeginRead();
        (reading.TryOpenTree("t", out var tree) ? tree.Count : 0).Should().Be(0);
    }

    [Fact]
    public async Task The_token_of_the_beginning_cancels_the_completion()
    {
        using var stop = new CancellationTokenSource();
        using var load = await _environment.BeginBulkLoadAsync("t", Sorted, stop.Token);
        load.Put("a"u8, "1"u8);
        await stop.CancelAsync();
        await load.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<OperationCanceledException>();
        Names().Should().BeEmpty();
    }

    [Fact]
    public async Task A_source_that_throws_or_uses_the_environment_itself()
    {
        var throwing = Throwing();
        await _environment.Awaiting(at => at.BulkLoadAsync("t", throwing, Sorted, Token)).Should().ThrowAsync<TimeZoneNotFoundException>();
        Names().Should().BeEmpty();
        (await _environment.BulkLoadAsync("t", Reentering(), Sorted, Token)).EntriesStored.Should().Be(100);
        Names().Should().Equal("other", "t");

        static IEnumerable<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)> Throwing()
        {
            yield return Entry("a", new string('x', 200_000));
            throw new TimeZoneNotFoundException();
        }

        async IAsyncEnumerable<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)> Reentering()
        {
            for (var i = 0; i < 100; i++)
            {
                _environment.Write(writing => writing.CreateTree("other").Put("key"u8, "value"u8));
                await Task.Yield();
                yield return Entry($"{i:D3}", "value");
            }
        }
    }

    private static (ReadOnlyMemory<byte>, ReadOnlyMemory<byte>) Entry(string key, string value) =>
        (Encoding.UTF8.GetBytes(key), Encoding.UTF8.GetBytes(value));

    private IEnumerable<string> Names()
    {
        using var reading = _environment.BeginRead();
        return reading.GetTreeNames();
    }
}
