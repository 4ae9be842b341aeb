using System.Buffers;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>What an open writer of a value prevents, how it ends, and what its handles do afterwards.</summary>
[Quick]
public sealed class ValueWriterLifetimeTests : IDisposable
{
    private readonly SimulatedDisk _disk = new();
    private readonly StorageEnvironment _environment;

    public ValueWriterLifetimeTests() => _environment = StorageEnvironment.Open(_disk, FaultTestKit.Options());

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
        _disk.Dispose();
    }

    [Theory]
    [InlineData("commit")]
    [InlineData("commit async")]
    [InlineData("savepoint")]
    [InlineData("begin nested")]
    [InlineData("release")]
    [InlineData("commit nested")]
    [InlineData("delete tree")]
    public void A_call_that_an_open_writer_would_not_survive_is_refused(string call)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var savepoint = writing.CreateSavepoint();
        var nested = writing.BeginNested();
        var writer = tree.OpenWriter("a"u8);
        writer.Write(FaultTestKit.Value(1, 600_000));
        Action refused = call switch
        {
            "commit" => writing.Commit,
            "commit async" => () => writing.CommitAsync(CancellationToken.None).AsTask().GetAwaiter().GetResult(),
            "savepoint" => () => writing.CreateSavepoint(),
            "begin nested" => () => writing.BeginNested(),
            "release" => savepoint.Release,
            "commit nested" => nested.Commit,
            _ => () => writing.DeleteTree("t"),
        };
        refused.Should().Throw<InvalidOperationException>().WithMessage("*ValueWriter of key 'a' in tree 't' is open. Complete or dispose it first*");
        writer.Complete();
        nested.Commit();
        savepoint.Release();
        writing.Commit();
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").TryGet("a"u8, out var value).Should().BeTrue();
        value.SequenceEqual(FaultTestKit.Value(1, 600_000)).Should().BeTrue();
    }

    [Theory]
    [InlineData(100, "savepoint")]
    [InlineData(600_000, "savepoint")]
    [InlineData(100, "nested")]
    [InlineData(600_000, "nested")]
    [InlineData(100, "transaction")]
    [InlineData(600_000, "transaction")]
    public void A_rollback_ends_the_writer(int length, string what)
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            var savepoint = writing.CreateSavepoint();
            var nested = what == "nested" ? writing.BeginNested() : default;
            var writer = tree.OpenWriter("a"u8);
            writer.Write(FaultTestKit.Value(1, length));
            if (what == "savepoint")
                savepoint.Rollback();
            else if (what == "nested")
                nested.Dispose();
            else
                writing.Dispose();
            var calls = new Action[]
            {
                () => writer.GetSpan(), () => writer.GetMemory(), () => writer.Advance(0), () => writer.Write("x"u8), () => _ = writer.WrittenCount,
            };
            foreach (var use in calls)
            {
                if (what == "transaction")
                    use.Should().Throw<ObjectDisposedException>().WithMessage("The transaction has ended. ValueWriter of key 'a' in tree 't' was open*not stored*");
                else
                    use.Should().Throw<InvalidOperationException>().WithMessage("*rolled back*while ValueWriter of key 'a' in tree 't' was open*");
            }

            if (length == 100)
                FluentActions.Invoking(() => writer.Complete()).Should().Throw<InvalidOperationException>();
            writer.Dispose();
            writer.Dispose();
            if (what != "transaction")
            {
                tree.Put("b"u8, FaultTestKit.Value(2, 900_000));
                tree.Contains("a"u8).Should().BeFalse();
                writing.Commit();
            }
        }

        // The next writer is the same object.
        using (var writing = _environment.BeginWrite())
        {
            using var next = writing.CreateTree("t").OpenWriter("c"u8);
            next.Write("next"u8);
            next.Complete();
            writing.Commit();
        }

        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task An_operation_that_leaves_a_writer_open_fails_alone()
    {
        var left = default(ValueWriter);
        var bad = _environment.WriteAsync(writing => left = writing.CreateTree("t").OpenWriter("a"u8), Cancellation).AsTask();
        var good = _environment.WriteAsync(writing => writing.CreateTree("t").Put("b"u8, [1]), Cancellation).AsTask();
        (await FluentActions.Awaiting(() => bad).Should().ThrowAsync<InvalidOperationException>()).WithMessage("*ValueWriter of key 'a'*is open*");
        await good;
        FluentActions.Invoking(() => left.GetSpan()).Should().Throw<InvalidOperationException>();
        left.Dispose();
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(1);
    }

    [Fact]
    public void A_handle_of_an_ended_writer_does_not_reach_into_the_next_one()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var old = tree.OpenWriter("a"u8);
        var boxed = Boxed(old);
        var copy = old;
        old.Write("one"u8);
        copy.Complete();
        using var next = tree.OpenWriter("b"u8);
        next.Write("two"u8);
        var calls = new Action[]
        {
            () => old.GetSpan(), () => copy.GetMemory(1), () => boxed.GetSpan(), () => boxed.Advance(0), () => old.Advance(0),
            () => _ = copy.WrittenCount, () => old.Write("more"u8), () => old.Write(default), old.Complete,
        };
        foreach (var use in calls)
            use.Should().Throw<ObjectDisposedException>().WithMessage("The value writer has ended.*");
        old.Dispose();
        copy.Dispose();
        next.Complete();
        tree.TryGet("a"u8, out var value).Should().BeTrue();
        value.ToArray().Should().Equal("one"u8.ToArray());
        tree.TryGet("b"u8, out value).Should().BeTrue();
        value.ToArray().Should().Equal("two"u8.ToArray());
    }

    private static IBufferWriter<byte> Boxed(IBufferWriter<byte> writer) => writer;
}
