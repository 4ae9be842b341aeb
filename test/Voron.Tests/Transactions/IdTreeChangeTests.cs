using Voron.Tests.Faults;
using Voron.Torture.Memory;

namespace Voron.Tests.Transactions;

/// <summary>Cursors and queries over id sets that change, or go back with a savepoint, and keys that are spans of the tree's own pages.</summary>
public sealed class IdTreeChangeTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_transaction_with_many_cursors_leaves_a_few_to_the_next_one()
    {
        const int cursors = 20;
        _environment.Write(writing => writing.CreateIdTree("t").AddMany("k"u8, Multiples(3, 1_000)));
        var opened = new IdCursor[cursors];
        for (var i = 0; i < 4; i++)
            Open();
        var before = GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;
        for (var i = 0; i < 10; i++)
            Open();
        var each = (GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes - before) / 10;
        each.Should().BeLessThan(48_000, "only 4 of 20 cursors are new");

        void Open()
        {
            using (var reading = _environment.BeginRead())
            {
                var tree = reading.OpenIdTree("t");
                for (var i = 0; i < cursors; i++)
                {
                    opened[i] = tree.OpenIds("k"u8);
                    opened[i].Seek(3 * i).Should().BeTrue();
                }

                for (var i = 0; i < cursors; i++)
                {
                    if (opened[i].Id != 3 * i)
                        throw new InvalidOperationException("Two handles have one cursor.");
                }

                for (var i = 0; i < cursors; i += 2)
                    opened[i].Dispose();
            }

            foreach (var cursor in opened)
            {
                if (!cursor.ToString().Contains("closed", StringComparison.Ordinal))
                    throw new InvalidOperationException("The cursor has outlived its transaction.");
            }
        }
    }

    private static long[] Multiples(int step, int count) => [.. Enumerable.Range(0, count).Select(i => (long)i * step)];
}
