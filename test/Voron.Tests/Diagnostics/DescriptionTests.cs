using System.Diagnostics;
using System.Reflection;
using System.Text;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>A debugger and a log may describe any object at any moment: live, ended, or never begun.</summary>
[Quick]
public sealed class DescriptionTests
{
    private static readonly Type[] Described =
    [
        typeof(StorageEnvironment), typeof(StorageOptions), typeof(ReadTransaction), typeof(WriteTransaction), typeof(NestedTransaction),
        typeof(Savepoint), typeof(Tree), typeof(WriteTree), typeof(Cursor), typeof(KeyRange), typeof(TreeRange), typeof(TreeRange.Enumerator),
        typeof(TreeEntry), typeof(LookupBatch),
    ];

    [Fact]
    public void A_debugger_shows_the_description_of_each_type_that_a_user_holds()
    {
        foreach (var type in Described)
        {
            type.GetCustomAttribute<DebuggerDisplayAttribute>()!.Value.Should().Be("{ToString(),nq}", type.Name);
            type.GetMethod(nameof(ToString), Type.EmptyTypes)!.DeclaringType.Should().Be(type);
        }
    }

    [Fact]
    public void Objects_that_were_never_begun_say_so()
    {
        default(ReadTransaction).ToString().Should().Be("read transaction (never begun)");
        default(WriteTransaction).ToString().Should().Be("write transaction (never begun)");
        default(NestedTransaction).ToString().Should().Be("nested transaction (never created)");
        default(Savepoint).ToString().Should().Be("savepoint (never created)");
        default(Tree).ToString().Should().Be("tree (never opened)");
        default(WriteTree).ToString().Should().Be("tree (never opened)");
        default(Cursor).ToString().Should().Be("cursor (never opened)");
        default(TreeRange).ToString().Should().Be("range (none)");
        default(TreeRange.Enumerator).ToString().Should().Be("enumeration, cursor (never opened)");
        default(KeyRange).ToString().Should().Be("no keys");
        default(TreeEntry).ToString().Should().Be("entry (none)");
        new LookupBatch().ToString().Should().Be("batch of 0 keys, not looked up");
        foreach (var shown in (object[])[default(ReadTransaction), default(WriteTransaction), default(Tree), default(Cursor), new LookupBatch()])
            DebugViews.Of(shown).Should().NotBeEmpty();
    }

    [Fact]
    public void Readers_show_their_entries_until_they_end()
    {
        using var environment = Fill();
        var reading = environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        var cursor = tree.OpenCursor();
        reading.ToString().Should().Be("read transaction of snapshot 1");
        tree.ToString().Should().Be("tree 'items' with 3 entries");
        cursor.ToString().Should().Be("cursor not positioned");
        cursor.SeekFirst();
        cursor.ToString().Should().Be("cursor at 'apple'");
        cursor.MoveNext();
        cursor.MoveNext();
        cursor.ToString().Should().Be("cursor at 0xFF00");
        cursor.MoveNext();
        cursor.ToString().Should().Be("cursor after the last entry");
        cursor.SeekFirst();
        cursor.MovePrevious();
        cursor.ToString().Should().Be("cursor before the first entry");
        cursor.Seek("b"u8);
        cursor.Entry.ToString().Should().Be($"entry 'berry' = '{new string('b', 32)}'... (50 bytes)");
        DebugViews.Of(tree)["Statistics"].Should().Be(tree.GetStatistics());
        DebugViews.Of(reading)["TransactionId"].Should().Be(1L);
        DebugViews.Of(cursor)["Place"].Should().Be("at 'berry'");
        var range = tree.Range(KeyRange.From("apple"u8).Before("z"u8));
        range.ToString().Should().Be("range of tree 'items': keys from 'apple' before 'z'");
        var enumerator = range.GetEnumerator();
        enumerator.ToString().Should().Be("enumeration, cursor not positioned");
        enumerator.MoveNext().Should().BeTrue();
        enumerator.ToString().Should().Be("enumeration, cursor at 'apple'");
        var entry = enumerator.Current;
        entry.ToString().Should().Be("entry 'apple' = 'red'");
        enumerator.Dispose();
        enumerator.ToString().Should().Be("enumeration, cursor (closed)");
        entry.ToString().Should().Be("entry 'apple' = 'red'", "it is valid until its transaction ends");
        reading.Dispose();
        Ended(reading, "read transaction (ended)");
        Ended(tree, "tree (ended)");
        Ended(cursor, "cursor (closed)");
        const string EntryEnded = "entry (its transaction has ended, or the tree has changed)";
        entry.ToString().Should().Be(EntryEnded);
        range.ToString().Should().Be("range of a tree that has ended: keys from 'apple' before 'z'");

        // The pooled objects serve another transaction now.
        using var next = environment.BeginRead();
        next.OpenTree(FaultTestKit.TreeName).OpenCursor().SeekFirst();
        Ended(reading, "read transaction (ended)");
        Ended(tree, "tree (ended)");
        Ended(cursor, "cursor (closed)");
        entry.ToString().Should().Be(EntryEnded);

        environment.Dispose();
        next.ToString().Should().Be("read transaction of snapshot 1", "it may be used until it ends");
        next.Dispose();
        entry.ToString().Should().Be(EntryEnded, "the map is gone");
        Ended(next, "read transaction (ended)");
    }

    [Fact]
    public void Ranges_show_their_bounds_and_what_is_cut_off()
    {
        Text(KeyRange.All).Should().Be("all keys");
        Text(KeyRange.From("a"u8)).Should().Be("keys from 'a'");
        Text(KeyRange.After("a"u8)).Should().Be("keys after 'a'");
        Text(KeyRange.Before([0xFF])).Should().Be("keys before 0xFF");
        Text(KeyRange.Through("a"u8)).Should().Be("keys through 'a'");
        Text(KeyRange.From("a"u8).Through("b"u8)).Should().Be("keys from 'a' through 'b'");
        Text(KeyRange.Prefix("ab"u8)).Should().Be("keys from 'ab' before 'ac'");
        Text(KeyRange.Prefix([0xFF])).Should().Be("keys from 0xFF");
        Text(KeyRange.From("b"u8).Before("a"u8)).Should().Be("no keys");
        using var environment = Fill();
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        tree.GetEntries().Reverse().Skip(1).Take(5).ToString().Should().Be("range of tree 'items': all keys, reversed, without 1, at most 5");
        tree.GetEntries().Take(5).Reverse().Skip(2).Take(1).ToString()
            .Should().Be("range of tree 'items': all keys, at most 5, reversed, without 2, at most 1");

        static string Text(KeyRange range) => range.ToString();
    }

    [Fact]
    public void Entries_end_with_a_change_of_their_tree()
    {
        using var environment = Fill();
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        tree.Put("large"u8, new byte[100_000]);
        tree.AsReadOnly().TryGetEntry("large"u8, out var large).Should().BeTrue();
        large.ToString().Should().Be("entry 'large' = 100000 bytes");
        tree.AsReadOnly().TryGetEntry("apple"u8, out var entry).Should().BeTrue();
        entry.ToString().Should().Be("entry 'apple' = 'red'");
        tree.Delete("berry"u8);
        entry.ToString().Should().Be("entry (its transaction has ended, or the tree has changed)");
        tree.AsReadOnly().TryGetEntry("none"u8, out var none).Should().BeFalse();
        none.ToString().Should().Be("entry (none)");
    }

    [Fact]
    public void Writers_show_their_changes_and_change_nothing()
    {
        using var environment = Fill();
        var writing = environment.BeginWrite();
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        writing.ToString().Should().Be("write transaction 2");
        tree.Put("first"u8, "1"u8);
        for (var i = 0; i < 10; i++)
            tree.Put(FaultTestKit.Key(i), [1]);
        tree.ToString().Should().Be("tree 'items' with 4 entries, and puts that wait to be applied");
        tree.ToString().Should().Be("tree 'items' with 4 entries, and puts that wait to be applied", "the description has not applied them");
        DebugViews.Of(tree.AsReadOnly())["HasWaitingPuts"].Should().Be(true);
        var savepoint = writing.CreateSavepoint();
        savepoint.ToString().Should().Be("savepoint in write transaction 2");
        var nested = writing.BeginNested();
        nested.ToString().Should().Be("nested transaction in write transaction 2");

        var cursor = tree.OpenCursor();
        cursor.SeekExact("berry"u8).Should().BeTrue();
        tree.Insert("between"u8, "x"u8);
        cursor.ToString().Should().Be("cursor at 'berry', if the tree still has it");
        cursor.ToString().Should().Be("cursor at 'berry', if the tree still has it", "the description has not found it again");
        tree.Delete("berry"u8);
        cursor.ToString().Should().Be("cursor at 'berry', if the tree still has it");
        cursor.IsOnEntry.Should().BeFalse();
        nested.Dispose();
        nested.ToString().Should().Be("nested transaction (ended)");
        savepoint.Release();
        savepoint.ToString().Should().Be("savepoint (ended)");
        DebugViews.Of(writing)["ChangedBytes"].Should().BeOfType<long>().Which.Should().BePositive();
        DebugViews.Of(writing)["IsGroupCommit"].Should().Be(false);
        writing.DeleteTree(FaultTestKit.TreeName);
        tree.ToString().Should().Be("tree (deleted)");
        writing.Dispose();
        Ended(writing, "write transaction (ended)");
        Ended(tree.AsReadOnly(), "tree (ended)");
        tree.ToString().Should().Be("tree (ended)");
        Ended(cursor, "cursor (closed)");
        environment.Dispose();
        Ended(writing, "write transaction (ended)");
        Ended(cursor, "cursor (closed)");
    }

    [Fact]
    public void A_broken_transaction_and_an_operation_that_has_returned_say_so()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 1 << 20 });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("a");
            FluentActions.Invoking(() =>
            {
                for (var i = 0; i < 1000; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 5000));
            }).Should().Throw<StorageFullException>();
            writing.ToString().Should().Be("write transaction 1 (broken: it can only be rolled back)");
            DebugViews.Of(writing)["BrokenBy"].Should().BeOfType<TransactionTooLargeException>();
        }

        var kept = default(WriteTransaction);
        environment.Write(writing =>
        {
            kept = writing;
            writing.ToString().Should().Be("write transaction 1");
            DebugViews.Of(writing)["IsGroupCommit"].Should().Be(true);
        });
        kept.ToString().Should().StartWith("write transaction (");
        DebugViews.Of(kept)["TransactionId"].Should().BeNull();
    }

    [Fact]
    public void A_batch_shows_its_keys_and_never_its_values()
    {
        using var environment = Fill();
        var batch = new LookupBatch();
        batch.Add("apple"u8);
        batch.Add("none"u8);
        batch.ToString().Should().Be("batch of 2 keys, not looked up");
        ((string[])DebugViews.Of(batch)["Keys"]!).Should().Equal("'apple'", "'none'");
        using (var reading = environment.BeginRead())
        {
            reading.OpenTree(FaultTestKit.TreeName).GetMany(batch);
            batch.ToString().Should().Be("batch of 2 keys, 1 of them found in tree 'items'");
            ((string[])DebugViews.Of(batch)["Keys"]!).Should().Equal("'apple' (found)", "'none' (not found)");
        }

        batch.ToString().Should().Be("batch of 2 keys, looked up in a transaction that has ended");
        environment.Dispose();
        batch.ToString().Should().Be("batch of 2 keys, looked up in a transaction that has ended");
        DebugViews.Of(batch).Should().HaveCount(2);
    }

    [Fact]
    public void An_environment_shows_its_state()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        environment.ToString().Should().Be("environment 'simulated' (open)");
        DebugViews.Of(environment)["Statistics"].Should().BeOfType<EnvironmentStatistics>();
        DebugViews.Of(environment).Should().ContainKeys("Path", "Name", "State", "Options", "Recovery");
        FaultTestKit.Put(environment, 1, [1]);
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.Failed, forever: true);
        environment.Invoking(open => FaultTestKit.Put(open, 2, [2])).Should().Throw<EnvironmentPoisonedException>();
        environment.ToString().Should().Be("environment 'simulated' (poisoned: refuses writes)");
        environment.Dispose();
        environment.ToString().Should().Be("environment 'simulated' (closed)");
        DebugViews.Of(environment)["Statistics"].Should().BeNull();
        DebugViews.Of(environment)["Name"].Should().Be(environment.Name);

        disk = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
        disk.IsReadOnly = true;
        using var reading = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true });
        reading.ToString().Should().Be("environment 'simulated' (open for reading)");
    }

    [Fact]
    public void Options_list_what_differs_from_the_defaults()
    {
        new StorageOptions().ToString().Should().Be("options (defaults)");
        new StorageOptions { PageSize = 8192, BackgroundFlush = false, Name = "a", PreferredFreeFraction = 0.5, CommitObserver = _ => { } }.ToString()
            .Should().Contain("PageSize = 8192").And.Contain("BackgroundFlush = False").And.Contain("Name = a")
            .And.Contain("PreferredFreeFraction = 0.5").And.Contain("CommitObserver = Action`1").And.NotContain("ReadOnly");
        new StorageOptions { Trees = { "orders", "items" } }.ToString().Should().Be("options (Trees = orders/items)");
        new StorageOptions { LoggerFactory = new HostileFactory() }.ToString().Should().Be("options (LoggerFactory = HostileFactory)");
    }

    /// <summary>A log of one thread may describe the objects of another, which are being used and ended meanwhile.</summary>
    [Fact]
    public void Another_thread_may_describe_a_reader_while_it_ends()
    {
        using var environment = Fill();
        var shared = new (ReadTransaction Reading, Tree Tree, Cursor Cursor)[1];
        var isOver = false;
        var seen = 0;
        var describing = new TestThread(() =>
        {
            while (!Volatile.Read(ref isOver))
            {
                (ReadTransaction, Tree, Cursor) found;
                lock (shared)
                    found = shared[0];
                var text = $"{found}";
                seen += text.Contains("at 'apple'", StringComparison.Ordinal) ? 1 : 0;
            }
        });
        var readers = 0;
        TestWait.WorkUntil(() => readers >= 100_000 && Volatile.Read(ref seen) > 0, () =>
        {
            readers++;
            using var reading = environment.BeginRead();
            var tree = reading.OpenTree(FaultTestKit.TreeName);
            var cursor = tree.OpenCursor();
            cursor.SeekFirst();
            lock (shared)
                shared[0] = (reading, tree, cursor);
            if (!cursor.Key.SequenceEqual("apple"u8))
                Assert.Fail("The reader sees another key.");
        });

        Volatile.Write(ref isOver, true);
        describing.Join().Should().BeNull();
        seen.Should().BePositive();
    }

    private static StorageEnvironment Fill()
    {
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        tree.Put("apple"u8, "red"u8);
        tree.Put("berry"u8, Encoding.UTF8.GetBytes(new string('b', 50)));
        tree.Put([0xFF, 0], [1, 2]);
        writing.Commit();
        return environment;
    }

    private static void Ended(object shown, string expected)
    {
        shown.ToString().Should().Be(expected);
        DebugViews.Of(shown).Values.Should().OnlyContain(value => value == null || value is string || value.Equals(true));
    }

    private sealed class HostileFactory : Microsoft.Extensions.Logging.ILoggerFactory
    {
        public Microsoft.Extensions.Logging.ILogger CreateLogger(string categoryName) => throw new InvalidOperationException();

        public void AddProvider(Microsoft.Extensions.Logging.ILoggerProvider provider) => throw new InvalidOperationException();

        public override string ToString() => throw new InvalidOperationException("The text of the user's object is the user's code.");

        public void Dispose()
        {
        }
    }
}
