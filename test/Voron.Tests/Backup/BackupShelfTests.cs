using Voron.Backup;

namespace Voron.Tests.Backup;

/// <summary>The order of backups, and which build on which, without files.</summary>
public sealed class BackupShelfTests
{
    private static readonly DateTimeOffset Start = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly Guid Environment = Guid.NewGuid();

    /// <summary>The clock of the machine on which the environment was restored is an hour behind.</summary>
    [Fact]
    public void A_restored_history_comes_behind_the_one_before_whatever_the_clocks_say()
    {
        var old = Of(1, parent: 0, transaction: 90, minute: 120);
        var restored = Of(2, parent: 1, transaction: 40, minute: 60);
        var again = Of(3, parent: 2, transaction: 41, minute: 0);
        BackupOrder.Sort([again, restored, old]).Should().Equal(old, restored, again);
    }

    [Fact]
    public void Forks_come_in_the_order_of_their_last_backups_each_with_its_own_forks()
    {
        var root = Of(1, parent: 0, transaction: 10, minute: 0);
        var early = Of(2, parent: 1, transaction: 20, minute: 1);
        var late = Of(3, parent: 1, transaction: 15, minute: 2);
        var ofEarly = Of(4, parent: 2, transaction: 21, minute: 3);
        var other = Of(9, parent: 8, transaction: 5, minute: 4);
        BackupOrder.Sort([other, ofEarly, late, early, root]).Should().Equal(root, late, early, ofEarly, other);
    }

    [Fact]
    public void Histories_in_a_circle_lose_no_backup()
    {
        List<BackupSetEntry> all = [];
        for (short i = 1; i <= 3; i++)
            all.Add(Of(i, parent: (short)(i % 3 + 1), transaction: i, minute: i));
        BackupOrder.Sort(all).Should().BeEquivalentTo(all);
    }

    /// <summary>A listing took cubic time: a thousand incremental backups took a minute of the processor.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Ten_thousand_backups_that_build_on_each_other_are_linked_in_linear_time(bool hasFull)
    {
        const int Count = 10_000;
        var all = new List<BackupSetEntry>();
        for (var i = 0; i < Count; i++)
            all.Add(Of(1, parent: 0, transaction: i + 1, minute: i, all.LastOrDefault()));
        List<BackupSetEntry> linked = [];
        ThreadClock.Measure(() => linked = [.. new BackupLinks(BackupOrder.Sort(hasFull ? all : all.Skip(1))).Entries()])
            .Should().BeLessThan(TimeSpan.FromSeconds(5));
        linked.Should().HaveCount(hasFull ? Count : Count - 1);
        if (hasFull)
        {
            linked[^1].Chain.Should().Equal(all.Select(entry => entry.File));
            linked[99].Chain[98].Should().Be(all[98].File);
        }
        else
        {
            linked[^1].Problem.Should().Contain(all[0].Info!.BackupId.ToString()).And.Contain(all[1].File);
        }
    }

    private static Guid Id(short number) => new(0, number, 0, new byte[8]);

    private static BackupSetEntry Of(short lineage, short parent, long transaction, int minute, BackupSetEntry? before = null) => new()
    {
        File = $"{lineage}-{transaction}.vback",
        Info = new BackupInfo
        {
            BackupId = Guid.NewGuid(),
            EnvironmentId = Environment,
            LineageId = Id(lineage),
            ParentLineageId = Id(parent),
            TransactionId = transaction,
            FinishedAt = Start.AddMinutes(minute),
            ParentId = before?.Info!.BackupId,
            ParentTransactionId = before?.Info!.TransactionId ?? 0,
        },
    };
}
