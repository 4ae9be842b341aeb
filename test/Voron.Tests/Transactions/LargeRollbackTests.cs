using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>The cost of savepoints in a transaction with many large values. Alone, because other tests would take its processor caches.</summary>
[Collection(nameof(Alone))]
public sealed class LargeRollbackTests(ITestOutputHelper output)
{
    /// <summary>
    /// Each rollback and each deletion walked over all large values of the transaction, which took hours for some hundred thousand.
    /// </summary>
    [Fact]
    public void The_cost_of_rollbacks_and_deletions_does_not_depend_on_the_number_of_values()
    {
        Run(1_000);
        var few = Run(12_500);
        var many = Run(100_000);
        output.WriteLine($"12,500 values: {few.TotalMilliseconds} ms; 100,000 values: {many.TotalMilliseconds} ms.");

        // The caches of the processor hold the few values and not the many, which makes a factor of up to four. If each operation looked at
        // all values, it would take 64 times as long, and with this number of values some minutes.
        many.Should().BeLessThan(few * 40, "eight times as many values take some eight times as long");
    }

    private static TimeSpan Run(int values)
    {
        var disk = new SparseDisk(16L << 30);
        var options = new StorageOptions { BackgroundFlush = false, JournaledValueBytes = 0, MaxTransactionBytes = 4L << 30 };
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            var value = new byte[16 << 10];
            TimeSpan took;
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree(FaultTestKit.TreeName);
                for (var i = 0; i < values; i++)
                    tree.Put(FaultTestKit.Key(i), value);
                took = ThreadClock.Measure(() =>
                {
                    for (var i = 0; i < values; i++)
                    {
                        var savepoint = writing.CreateSavepoint();
                        tree.Put(FaultTestKit.Key(500_000 + i % 10), value);
                        tree.Delete(FaultTestKit.Key(i));
                        savepoint.Rollback();
                        savepoint.Release();
                    }

                    for (var i = 0; i < values / 2; i++)
                        tree.Delete(FaultTestKit.Key(i));
                });
                writing.Commit();
            }

            using var reading = environment.BeginRead();
            reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(values - values / 2);
            return took;
        }
    }
}
