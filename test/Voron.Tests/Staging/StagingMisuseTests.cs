using System.IO.Pipelines;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Staging;

/// <summary>Wrong calls of staging are refused with an exception that names the mistake, and change nothing.</summary>
[Quick]
public sealed class StagingMisuseTests : IDisposable
{
    private readonly StorageEnvironment _environment = StagingTestKit.Open();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        StagingTestKit.CheckUnreserved(_environment);
        FaultTestKit.Put(_environment, 77, FaultTestKit.Value(77, 77));
        FaultTestKit.Get(_environment, 77).Should().Equal(FaultTestKit.Value(77, 77));
        _environment.Dispose();
    }

    [Fact]
    public void Arguments_that_are_no_source_are_refused_by_the_call()
    {
        var calls = new (Action Call, string Message)[]
        {
            (() => StagingTestKit.Wait(_environment.StageAsync((Stream)null!)), "*"),
            (() => StagingTestKit.Wait(_environment.StageAsync((PipeReader)null!)), "*"),
            (() => StagingTestKit.Wait(_environment.StageAsync(new MemoryStream(new byte[1]).Closed())), "*cannot be read*"),
            (() => StagingTestKit.Wait(_environment.StageAsync(new WriteOnly())), "*cannot be read*"),
            (() => StagingTestKit.Wait(_environment.StageAsync(new LongStream(int.MaxValue + 1L))), "*2147483647*2147483648*"),
        };
        foreach (var (call, message) in calls)
            call.Should().Throw<ArgumentException>().WithMessage(message).Which.ParamName.Should().Be("source");
    }

    [Theory]
    [InlineData(10_000)]
    [InlineData(700_000)]
    public async Task A_source_without_an_end_is_refused_at_the_limit(int limit)
    {
        var upload = async (long length) => await _environment.UploadAsync(
            PipeReader.Create(new LongStream(length) { IsSeekable = false }), knownBytes: 0, limit, Cancellation);
        (await upload.Awaiting(stage => stage(limit + 1L)).Should().ThrowAsync<ArgumentException>().WithMessage($"*at most {limit} bytes*"))
            .Which.ParamName.Should().Be("source");
        _environment.GetStatistics().StagedBytes.Should().Be(0);
        using var staged = await upload(limit);
        staged.Length.Should().Be(limit, "the limit itself is allowed");
    }

    [Fact]
    public void Nothing_but_a_staged_value_of_this_environment_is_put()
    {
        using var other = StagingTestKit.Open();
        foreach (var length in new[] { 10, 100_000 })
        {
            using var foreign = StagingTestKit.Stage(other, 1, length);
            using var own = StagingTestKit.Stage(_environment, 1, length);
            using (var writing = _environment.BeginWrite())
            {
                var tree = writing.CreateTree(FaultTestKit.TreeName);
                tree.Invoking(t => t.Put(FaultTestKit.Key(1), (StagedValue)null!)).Should().Throw<ArgumentNullException>().WithParameterName("value");
                tree.Invoking(t => t.Put(FaultTestKit.Key(1), foreign)).Should().Throw<ArgumentException>()
                    .WithMessage("*another environment*").WithParameterName("value");
                tree.Invoking(t => t.Put([], own)).Should().Throw<ArgumentException>().WithMessage("*1 to*");
                tree.Invoking(t => t.Put(new byte[_environment.MaxKeyLength + 1], own)).Should().Throw<ArgumentException>();
                own.State.Should().Be(StagedValueState.Ready, "a put that is refused takes nothing");
                tree.Count.Should().Be(0);
                tree.Put(FaultTestKit.Key(1), own);
                tree.Count.Should().Be(1);
            }

            foreign.State.Should().Be(StagedValueState.Ready);
            StagingTestKit.Put(other, 1, foreign);
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    [InlineData(100_000)]
    public void A_value_is_put_once(int length)
    {
        var staged = StagingTestKit.Stage(_environment, 1, length);
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            tree.Put(FaultTestKit.Key(1), staged);
            foreach (var key in new[] { 1, 2 })
            {
                tree.Invoking(t => t.Put(FaultTestKit.Key(key), staged)).Should().Throw<InvalidOperationException>()
                    .WithMessage("*in this transaction*");
                tree.Count.Should().Be(1);
            }

            writing.Commit();
        }

        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            tree.Invoking(t => t.Put(FaultTestKit.Key(2), staged)).Should().Throw<InvalidOperationException>().WithMessage("*was committed*");
            tree.Count.Should().Be(1);
            tree.Put(FaultTestKit.Key(3), [3]);
            writing.Commit();
        }

        StagingTestKit.Check(_environment, 1, 1, length);
        staged.Dispose();
        staged.State.Should().Be(StagedValueState.Committed, "there is nothing left to dispose");
        StagingTestKit.Check(_environment, 1, 1, length);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(100_000)]
    public void A_disposed_value_cannot_be_put(int length)
    {
        var staged = StagingTestKit.Stage(_environment, 1, length);
        staged.Dispose();
        staged.Dispose();
        staged.State.Should().Be(StagedValueState.Disposed);
        staged.Length.Should().Be(length);
        staged.ToString().Should().Contain($"{length} bytes").And.Contain("Disposed");
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        tree.Invoking(t => t.Put(FaultTestKit.Key(1), staged)).Should().Throw<ObjectDisposedException>().WithMessage("*disposed*");
        tree.Count.Should().Be(0);
        writing.Commit();
    }

    [Fact]
    public void Handles_of_ended_transactions_put_nothing()
    {
        using var staged = StagingTestKit.Stage(_environment, 1, 100_000);
        WriteTree ended;
        using (var writing = _environment.BeginWrite())
            ended = writing.CreateTree(FaultTestKit.TreeName);
        ended.Invoking(t => t.Put(FaultTestKit.Key(1), staged)).Should().Throw<ObjectDisposedException>();
        default(WriteTree).Invoking(t => t.Put(FaultTestKit.Key(1), staged)).Should().Throw<InvalidOperationException>();
        staged.State.Should().Be(StagedValueState.Ready);
    }

    [Fact]
    public void A_read_only_environment_a_closed_one_and_an_operation_of_a_group_commit_stage_nothing()
    {
        var disk = new SimulatedDisk();
        StagingTestKit.Open(disk).Dispose();
        using (var reading = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true }))
        {
            reading.Invoking(e => e.StageAsync(new MemoryStream())).Should().Throw<InvalidOperationException>()
                .WithMessage("StageAsync*reading only*");
            reading.Invoking(e => e.StageAsync(new Pipe().Reader)).Should().Throw<InvalidOperationException>().WithMessage("StageAsync*");
            reading.GetStatistics().StagedBytes.Should().Be(0);
        }

        var closed = StagingTestKit.Open(disk);
        closed.Dispose();
        closed.Invoking(e => e.StageAsync(new MemoryStream())).Should().Throw<ObjectDisposedException>();
        closed.Invoking(e => e.StageAsync(new Pipe().Reader)).Should().Throw<ObjectDisposedException>();
        _environment.Invoking(e => e.Write(writing => Discard(e.StageAsync(new MemoryStream())))).Should().Throw<InvalidOperationException>()
            .WithMessage("StageAsync*inside a group-commit operation*");
    }

    [Fact]
    public void The_source_is_left_open_or_completed()
    {
        var stream = new MemoryStream(new byte[100_000]);
        StagingTestKit.Wait(_environment.StageAsync(stream, Cancellation)).Dispose();
        stream.CanRead.Should().BeTrue();
        stream.Position.Should().Be(100_000);
        var pipe = new Pipe();
        pipe.Writer.Complete();
        StagingTestKit.Wait(_environment.StageAsync(pipe.Reader, Cancellation)).Dispose();
        FluentActions.Invoking(() => pipe.Reader.TryRead(out _)).Should().Throw<InvalidOperationException>("the pipe was completed");
    }

    private static void Discard(ValueTask<StagedValue> upload) => upload.AsTask().GetAwaiter().GetResult().Dispose();

    private sealed class WriteOnly : MemoryStream
    {
        public override bool CanRead => false;
    }
}
