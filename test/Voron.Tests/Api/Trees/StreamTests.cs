using System.Buffers;
using System.IO.Pipelines;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

[Quick]
public sealed class StreamTests
{
    private const int Chunk = 64 << 10;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4095)]
    [InlineData(Chunk - 1)]
    [InlineData(Chunk)]
    [InlineData(Chunk + 1)]
    [InlineData(2 * Chunk)]
    [InlineData((1 << 20) - 1)]
    [InlineData(1 << 20)]
    [InlineData((1 << 20) + 1)]
    [InlineData(5_000_003)]
    public async Task A_value_from_a_stream_or_a_pipe_is_what_was_sent(int length)
    {
        var disk = new SimulatedDisk();
        var value = FaultTestKit.Value(length, length);
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree(FaultTestKit.TreeName);
                (await tree.PutAsync(FaultTestKit.Key(1), new Unseekable(new MemoryStream(value), 7000), Cancellation)).Should().Be(length);
                tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(2, 300));
                (await tree.PutAsync(FaultTestKit.Key(3), PipeReader.Create(new ReadOnlySequence<byte>(value)), Cancellation)).Should().Be(length);
                (await tree.PutAsync(FaultTestKit.Key(4), new MemoryStream(value), Cancellation)).Should().Be(length);
                CheckStream(tree.ToTree(), 1, value);
                await writing.CommitAsync(Cancellation);
            }

            environment.Verify().Problems.Should().BeEmpty();
        }

        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        using var reading = reopened.BeginRead();
        foreach (var key in new[] { 1, 3, 4 })
            CheckStream(reading.OpenTree(FaultTestKit.TreeName), key, value);
        reading.OpenTree(FaultTestKit.TreeName).TryOpenStream(FaultTestKit.Key(99), out _).Should().BeFalse();
    }

    /// <summary>A value of 150 MB took 453 MB, because its space was doubled although its stream knew the length.</summary>
    [Theory]
    [InlineData(9_000_000, 9_000_000)]
    [InlineData(9_000_000, 1_000_000)]
    [InlineData(3_000_000, 9_000_000)]
    public async Task A_stream_that_knows_its_length_gets_the_space_for_it_at_once(int length, int claimed)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 2, [2]);
        var value = FaultTestKit.Value(1, length);
        var before = environment.GetStatistics();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            (await tree.PutAsync(FaultTestKit.Key(1), new Claiming(value, claimed), Cancellation)).Should().Be(length);
            writing.Commit();
        }

        using (var reading = environment.BeginRead())
            CheckStream(reading.OpenTree(FaultTestKit.TreeName), 1, value);
        environment.Verify().Problems.Should().BeEmpty();
        var taken = (environment.GetStatistics().PageCount - before.PageCount) * 4096;
        if (length == claimed)
            taken.Should().BeInRange(length, length + (64 << 10));
    }

    [Fact]
    public async Task A_value_that_has_to_move_while_it_grows_is_whole()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        var value = FaultTestKit.Value(1, 9_000_000);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            var i = 0;
            var stream = new Unseekable(new MemoryStream(value), 100_000)
            {
                // Each put takes pages behind the value, which forces the value to move when it next grows.
                BeforeRead = () => tree.Put(FaultTestKit.Key(1000 + i), FaultTestKit.Value(i++, 3000)),
            };
            (await tree.PutAsync(FaultTestKit.Key(1), stream, Cancellation)).Should().Be(value.Length);
            i.Should().BeGreaterThan(50);
            writing.Commit();
        }

        using (var reading = environment.BeginRead())
            CheckStream(reading.OpenTree(FaultTestKit.TreeName), 1, value);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(10)]
    [InlineData(Chunk + 10)]
    [InlineData(3_000_000)]
    public async Task A_stream_that_fails_or_is_cancelled_leaves_nothing(int length)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            var value = FaultTestKit.Value(length, length);
            var failing = new Unseekable(new MemoryStream(value), 30_000) { AtEnd = () => throw new IOException("the line is dead") };
            await FluentActions.Awaiting(() => tree.PutAsync(FaultTestKit.Key(1), failing, Cancellation).AsTask())
                .Should().ThrowAsync<IOException>().WithMessage("the line is dead");

            using var source = new CancellationTokenSource();
            var cancelled = new Unseekable(new MemoryStream(value), 30_000) { AtEnd = source.Cancel };
            await FluentActions.Awaiting(() => tree.PutAsync(FaultTestKit.Key(1), cancelled, source.Token).AsTask())
                .Should().ThrowAsync<OperationCanceledException>();

            var pipe = new Pipe();
            await pipe.Writer.WriteAsync(value.AsMemory(0, Math.Min(length, 20_000)), Cancellation);
            pipe.Reader.CancelPendingRead();
            await FluentActions.Awaiting(() => tree.PutAsync(FaultTestKit.Key(1), pipe.Reader, Cancellation).AsTask())
                .Should().ThrowAsync<OperationCanceledException>();

            tree.Count.Should().Be(1);
            tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(2, 100));
            writing.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 100));
        FaultTestKit.Get(environment, 2).Should().Equal(FaultTestKit.Value(2, 100));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_stream_known_to_be_too_long_is_refused_before_it_is_read()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        var stream = new Endless(int.MaxValue + 1L);
        await FluentActions.Awaiting(() => tree.PutAsync(FaultTestKit.Key(1), stream, Cancellation).AsTask())
            .Should().ThrowAsync<ArgumentException>().WithMessage("*2147483647*2147483648*");
        stream.BytesRead.Should().Be(0);
        tree.Count.Should().Be(0);
        writing.Commit();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(40_000)]
    [InlineData(700_000)]
    public async Task An_endless_stream_is_refused_at_the_limit_and_nothing_is_kept(int limit)
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            await FluentActions.Awaiting(() => PutLimited(tree, limit, limit + 1L).AsTask())
                .Should().ThrowAsync<ArgumentException>().WithMessage($"*at most {limit} bytes*");
            tree.Count.Should().Be(1);
            (await PutLimited(tree, limit, limit)).Should().Be(limit, "the limit itself is allowed");
            tree.Delete(FaultTestKit.Key(2)).Should().BeTrue();
            writing.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 100));
        environment.Verify().Problems.Should().BeEmpty();
        Voron.Transactions.ValuePipe.MaxValueBytes.Should().Be(2_147_483_647);
    }

    [Fact]
    public async Task A_stream_that_outlives_its_transaction_writes_into_no_other()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        var pipe = new Pipe();
        var writing = environment.BeginWrite();
        var put = writing.CreateTree(FaultTestKit.TreeName).PutAsync(FaultTestKit.Key(1), pipe.Reader, Cancellation).AsTask();
        await pipe.Writer.WriteAsync(new byte[50_000], Cancellation);
        writing.Dispose();
        using (var next = environment.BeginWrite())
        {
            next.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(5), FaultTestKit.Value(5, 50));
            await pipe.Writer.CompleteAsync();
            await FluentActions.Awaiting(() => put).Should().ThrowAsync<ObjectDisposedException>();
            next.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().BeNull();
        FaultTestKit.Get(environment, 5).Should().Equal(FaultTestKit.Value(5, 50));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task The_stream_of_a_value_seeks_and_ends_with_its_transaction()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        var value = FaultTestKit.Value(1, 200_000);
        FaultTestKit.Put(environment, 1, value);
        var reading = environment.BeginRead();
        FluentActions.Invoking(() => reading.OpenTree("none")).Should().Throw<KeyNotFoundException>().WithMessage("*none*");
        reading.OpenTree(FaultTestKit.TreeName).TryOpenStream(FaultTestKit.Key(1), out var stream).Should().BeTrue();
        stream!.Length.Should().Be(value.Length);
        stream.CanWrite.Should().BeFalse();
        foreach (var at in new long[] { 0, 1, Chunk - 1, Chunk, 3 * Chunk - 5, value.Length - 1, value.Length })
        {
            stream.Seek(at, SeekOrigin.Begin).Should().Be(at);
            var buffer = new byte[100];
            var read = await stream.ReadAtLeastAsync(buffer, 100, throwOnEndOfStream: false, Cancellation);
            read.Should().Be((int)Math.Min(100, value.Length - at));
            buffer.AsSpan(0, read).SequenceEqual(value.AsSpan((int)at, read)).Should().BeTrue();
        }

        stream.Seek(-10, SeekOrigin.End).Should().Be(value.Length - 10);
        stream.Seek(-20, SeekOrigin.Current).Should().Be(value.Length - 30);
        FluentActions.Invoking(() => stream.Seek(0, (SeekOrigin)9)).Should().Throw<ArgumentOutOfRangeException>();
        using (var cancelled = new CancellationTokenSource())
        {
            await cancelled.CancelAsync();
            await FluentActions.Awaiting(async () => await stream.ReadAsync(new byte[1], cancelled.Token))
                .Should().ThrowAsync<OperationCanceledException>();
            stream.Position.Should().Be(value.Length - 30);
        }

        FluentActions.Invoking(() => stream.Seek(-1, SeekOrigin.Begin)).Should().Throw<ArgumentOutOfRangeException>();
        FluentActions.Invoking(() => stream.SetLength(1)).Should().Throw<NotSupportedException>();
        reading.Dispose();
        FluentActions.Invoking(() => stream.ReadByte()).Should().Throw<ObjectDisposedException>();
    }

    private static ValueTask<long> PutLimited(WriteTree tree, long limit, long length)
    {
        var opened = tree.ToTree().Opened;
        var pipe = PipeReader.Create(new Unseekable(new Endless(length), 16_000));
        return new ValueStreamWriter(opened, opened.Generation, maxBytes: limit).PutAsync(FaultTestKit.Key(2), pipe, Cancellation);
    }

    private static void CheckStream(Tree tree, int key, byte[] value)
    {
        tree.TryOpenStream(FaultTestKit.Key(key), out var stream).Should().BeTrue();
        using var copy = new MemoryStream();
        stream!.CopyTo(copy);
        copy.ToArray().AsSpan().SequenceEqual(value).Should().BeTrue();
    }

    /// <summary>A stream with a length of its own choice, which may be wrong: a file may grow and shrink while it is read.</summary>
    private sealed class Claiming(byte[] bytes, long length) : MemoryStream(bytes)
    {
        public override long Length => length;
    }

    /// <summary>A stream without a length, which returns its bytes in pieces.</summary>
    private sealed class Unseekable(Stream inner, int piece) : Stream
    {
        public Action? BeforeRead { get; init; }

        public Action? AtEnd { get; init; }

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override int Read(byte[] buffer, int offset, int count)
        {
            BeforeRead?.Invoke();
            var read = inner.Read(buffer, offset, Math.Min(count, piece));
            if (read == 0)
                AtEnd?.Invoke();
            return read;
        }

        public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken)
        {
            var read = Read(buffer, offset, count);
            cancellationToken.ThrowIfCancellationRequested();
            return Task.FromResult(read);
        }

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var bytes = new byte[Math.Min(buffer.Length, piece)];
            var read = Read(bytes, 0, bytes.Length);
            cancellationToken.ThrowIfCancellationRequested();
            bytes.AsMemory(0, read).CopyTo(buffer);
            return ValueTask.FromResult(read);
        }

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }

    /// <summary>A stream of zeros of any length.</summary>
    private sealed class Endless(long length) : Stream
    {
        public long BytesRead { get; private set; }

        public override bool CanRead => true;

        public override bool CanSeek => true;

        public override bool CanWrite => false;

        public override long Length => length;

        public override long Position { get; set; }

        public override int Read(byte[] buffer, int offset, int count)
        {
            var read = (int)Math.Min(count, length - Position);
            Array.Clear(buffer, offset, read);
            Position += read;
            BytesRead += read;
            return read;
        }

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }
}
