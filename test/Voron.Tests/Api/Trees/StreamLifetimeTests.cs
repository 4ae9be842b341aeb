using System.IO.Pipelines;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Transactions;

namespace Voron.Tests.Api;

/// <summary>
/// The stream of a value in a write transaction throws after every call that may give its bytes to something else, instead of reading them.
/// </summary>
[Quick]
public sealed class StreamLifetimeTests
{
    private const int Small = 10;
    private const int Overflow = 12_000;
    private const int Large = 40_000;
    private const int LargeWithDescriptor = 300_000;

    public static TheoryData<int, string, bool> Endings()
    {
        var data = new TheoryData<int, string, bool>();
        foreach (var length in new[] { Small, 3000, Overflow, Large, LargeWithDescriptor })
        {
            foreach (var ending in new[]
            {
                "delete", "cursor delete", "overwrite", "overwrite shorter", "insert again", "rollback", "delete tree", "rename", "commit", "dispose",
            })
            {
                data.Add(length, ending, true);
                data.Add(length, ending, false);
            }
        }

        return data;
    }

    /// <summary>The transaction may end between the check of the handle and the first step of the put.</summary>
    [Fact]
    public async Task A_put_through_the_handle_of_an_ended_transaction_stores_nothing_in_the_next()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        OpenTree opened;
        long generation;
        using (var ended = environment.BeginWrite())
        {
            opened = ended.OpenTree(FaultTestKit.TreeName).ToTree().Opened;
            generation = opened.Generation;
        }

        using var next = environment.BeginWrite();
        next.OpenTree(FaultTestKit.TreeName).ToTree().Opened.Should().BeSameAs(opened, "the test is about an object that is used again");
        foreach (var length in new[] { Small, LargeWithDescriptor })
        {
            var pipe = PipeReader.Create(new MemoryStream(FaultTestKit.Value(2, length)));
            var put = async () => await new ValueStreamWriter(opened, generation).PutAsync(FaultTestKit.Key(2), pipe, CancellationToken.None);
            await put.Should().ThrowAsync<ObjectDisposedException>();
        }

        next.Commit();
        FaultTestKit.Get(environment, 2).Should().BeNull();
    }

    [Theory]
    [MemberData(nameof(Endings))]
    public void A_stream_throws_when_its_value_has_gone(int length, string ending, bool isCommitted)
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        if (isCommitted)
            FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, length));
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        var savepoint = writing.CreateSavepoint();
        if (!isCommitted || ending == "rollback")
            tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(2, length));
        tree.TryOpenStream(FaultTestKit.Key(2), out var stream).Should().BeTrue();
        stream!.ReadByte().Should().Be(FaultTestKit.Value(2, length)[0]);
        End(ending, writing, tree, savepoint, length);

        var read = () => stream.Read(new byte[length]);
        if (ending == "rename")
        {
            read.Should().NotThrow("its value is where it was");
            return;
        }

        read.Should().Throw<InvalidOperationException>();
        if (ending is "commit" or "dispose" or "delete tree")
            FluentActions.Invoking(() => stream.Length).Should().Throw<InvalidOperationException>();
        else
            stream.Length.Should().Be(length);
        FluentActions.Invoking(() => stream.CopyTo(Stream.Null)).Should().Throw<InvalidOperationException>();
        if (ending is not ("commit" or "dispose" or "delete tree"))
        {
            // Another stream of the same key reads the current value.
            if (tree.TryOpenStream(FaultTestKit.Key(2), out var again))
                again.CopyTo(Stream.Null);
            writing.Commit();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task The_stream_of_a_large_value_is_read_while_others_are_put()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        var value = FaultTestKit.Value(2, LargeWithDescriptor);
        FaultTestKit.Put(environment, 2, value);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            tree.TryOpenStream(FaultTestKit.Key(2), out var source).Should().BeTrue();
            (await tree.PutAsync(FaultTestKit.Key(3), source!, TestContext.Current.CancellationToken)).Should().Be(value.Length);
            source!.Position = 0;
            for (var i = 10; i < 200; i++)
            {
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 500));
                source.ReadByte().Should().Be(value[i - 10]);
            }

            writing.Commit();
        }

        FaultTestKit.Get(environment, 3).Should().Equal(value);
    }

    private static void End(string ending, WriteTransaction writing, WriteTree tree, Savepoint savepoint, int length)
    {
        switch (ending)
        {
            case "delete":
                tree.Delete(FaultTestKit.Key(2));
                break;
            case "cursor delete":
                using (var cursor = tree.OpenCursor())
                {
                    cursor.SeekExact(FaultTestKit.Key(2)).Should().BeTrue();
                    cursor.Delete();
                }

                break;
            case "overwrite":
                tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(77, length));
                break;
            case "overwrite shorter":
                tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(77, length - 1));
                break;
            case "insert again":
                tree.Delete(FaultTestKit.Key(2));
                tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(77, length));
                break;
            case "rollback":
                savepoint.Rollback();
                break;
            case "delete tree":
                writing.DeleteTree(FaultTestKit.TreeName);
                break;
            case "rename":
                writing.RenameTree(FaultTestKit.TreeName, "renamed");
                return;
            case "commit":
                writing.Commit();
                return;
            default:
                writing.Dispose();
                return;
        }

        // Uses the freed pages again.
        var other = writing.CreateTree("other");
        for (var i = 0; i < 40; i++)
            other.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 5000));
        _ = other.Count;
    }
}
