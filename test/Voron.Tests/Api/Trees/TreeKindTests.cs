using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Tests.Api;

/// <summary>A tree keeps the kind with which it was created, and no call takes it for another.</summary>
[Quick]
public sealed class TreeKindTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory();

    public TreeKindTests() => _environment.Write(writing =>
    {
        writing.CreateTree("plain");
        Create(writing, "array", TreeKind.FixedSize, 8);
    });

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_read_transaction_refuses_a_tree_of_another_kind()
    {
        using var reading = _environment.BeginRead();
        for (var round = 0; round < 2; round++)
        {
            // The second time, the transaction has the trees open already.
            ShouldNameBoth(() => reading.OpenTree("array"), "array", "a fixed-size tree", "a tree of keys and values");
            ShouldNameBoth(() => reading.TryOpenTree("array", out _), "array", "a fixed-size tree", "a tree of keys and values");
            ShouldNameBoth(() => Open(reading, "plain", TreeKind.FixedSize), "plain", "a tree of keys and values", "a fixed-size tree");
        }

        Open(reading, "array", TreeKind.FixedSize)!.StateAsIs.NestedValues.Should().Be(8);
        reading.OpenTree("plain").Count.Should().Be(0);
        Open(reading, "neither", TreeKind.FixedSize).Should().BeNull();
    }

    [Fact]
    public void A_write_transaction_refuses_a_tree_of_another_kind_and_continues()
    {
        using var writing = _environment.BeginWrite();
        for (var round = 0; round < 2; round++)
        {
            ShouldNameBoth(() => writing.OpenTree("array"), "array", "a fixed-size tree", "a tree of keys and values");
            ShouldNameBoth(() => writing.TryOpenTree("array", out _), "array", "a fixed-size tree", "a tree of keys and values");
            ShouldNameBoth(() => writing.CreateTree("array"), "array", "a fixed-size tree", "a tree of keys and values");
            ShouldNameBoth(() => Create(writing, "plain", TreeKind.FixedSize, 8), "plain", "a tree of keys and values", "a fixed-size tree");
            var resize = () => Create(writing, "array", TreeKind.FixedSize, 16);
            resize.Should().Throw<InvalidOperationException>().WithMessage("*tree 'array' has values of 8 bytes*opened with values of 16 bytes*");
        }

        writing.OpenTree("plain").Put("key"u8, "value"u8);
        writing.Commit();
        Count("plain").Should().Be(1);
    }

    [Fact]
    public void A_tree_that_was_deleted_leaves_its_name_to_another_kind()
    {
        using (var writing = _environment.BeginWrite())
        {
            writing.DeleteTree("array").Should().BeTrue();
            writing.CreateTree("array").Put("key"u8, "value"u8);
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.DeleteTree("array");
                Create(writing, "array", TreeKind.FixedSize, 4);
                savepoint.Rollback();
            }

            writing.OpenTree("array").Count.Should().Be(1);
            ShouldNameBoth(() => Create(writing, "array", TreeKind.FixedSize, 4), "array", "a tree of keys and values", "a fixed-size tree");
            writing.Commit();
        }

        Count("array").Should().Be(1);
    }

    [Fact]
    public void A_renamed_tree_keeps_its_kind()
    {
        _environment.Write(writing => writing.RenameTree("array", "numbers"));
        using var reading = _environment.BeginRead();
        ShouldNameBoth(() => reading.OpenTree("numbers"), "numbers", "a fixed-size tree", "a tree of keys and values");
        Open(reading, "numbers", TreeKind.FixedSize)!.StateAsIs.NestedValues.Should().Be(8);
    }

    private long Count(string name)
    {
        using var reading = _environment.BeginRead();
        return reading.OpenTree(name).Count;
    }

    private static void ShouldNameBoth(Action call, string name, string kind, string wanted) =>
        call.Should().Throw<InvalidOperationException>().WithMessage($"*tree '{name}'*is {kind}*opened as {wanted}*");

    private static OpenTree? Open(ReadTransaction reading, string name, TreeKind kind)
    {
        Span<byte> buffer = stackalloc byte[256];
        return reading.Body.OpenTree(reading.Body.Generation, Catalog.Encode(name, buffer), kind, out _);
    }

    private static OpenTree Create(WriteTransaction writing, string name, TreeKind kind, int valueBytes)
    {
        Span<byte> buffer = stackalloc byte[256];
        return writing.Body.CreateTree(Catalog.Encode(name, buffer), kind, valueBytes);
    }
}
