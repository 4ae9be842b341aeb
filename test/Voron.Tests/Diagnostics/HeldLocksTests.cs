using System.Collections;
using System.Reflection;
using Voron.Primitives;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>
/// Statistics, metrics and descriptions are available while other threads hold the engine's locks, as when a debugger has stopped them: one
/// thread for each lock holds it.
/// </summary>
[Quick]
public sealed class HeldLocksTests
{
    [Fact]
    public void Nothing_waits_for_a_lock()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MeterFactory = factory });
        FaultTestKit.Put(environment, 1, [1]);
        environment.Flush();
        FaultTestKit.Put(environment, 2, [2]);
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        var cursor = tree.OpenCursor();
        cursor.SeekFirst();
        using var writing = environment.BeginWrite();
        var written = writing.CreateTree("other");
        written.Put("a"u8, "b"u8);

        var locks = Locks.In(environment);
        locks.OfType<EngineLock>().Should().HaveCountGreaterThan(6);
        locks.OfType<EngineMonitor>().Should().HaveCountGreaterThan(1);
        locks.Should().HaveCountGreaterThan(15);
        using var mayRelease = new ManualResetEventSlim();
        var holders = locks.Select(held => Locks.Hold(held, mayRelease)).ToList();
        try
        {
            var texts = new List<string>();
            var asking = new TestThread(() =>
            {
                var statistics = environment.GetStatistics();
                texts.Add($"{statistics}");
                records.Observe(environment.Name).Should().ContainKey("voron.commits");
                foreach (var shown in (object[])[environment, reading, tree, cursor, writing, written.AsReadOnly()])
                {
                    texts.Add(shown.ToString()!);
                    DebugViews.Of(shown).Should().NotBeEmpty();
                }
            });
            asking.Join().Should().BeNull("nothing waits");
            texts.Should().HaveCount(7).And.Contain("cursor at '000001'");
        }
        finally
        {
            mayRelease.Set();
            foreach (var holder in holders)
                holder.Join().Should().BeNull();
        }
    }

    private static class Locks
    {
        private const BindingFlags All = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.DeclaredOnly;

        /// <summary>Returns the locks that are reachable from an object through fields of the engine's types.</summary>
        public static List<object> In(object root)
        {
            var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
            var found = new List<object>();
            var left = new Stack<object>([root]);
            while (left.TryPop(out var next))
            {
                if (!seen.Add(next))
                    continue;
                if (next is Lock or EngineLock or EngineMonitor || next.GetType() == typeof(object))
                    found.Add(next);
                if (next is EngineLock)
                    continue;
                foreach (var value in ValuesIn(next))
                    left.Push(value);
            }

            return found;
        }

        public static TestThread Hold(object held, ManualResetEventSlim mayRelease)
        {
            using var isHeld = new ManualResetEventSlim();
            var holder = new TestThread(() =>
            {
                switch (held)
                {
                    case EngineLock engine:
                        using (engine.Enter())
                            Wait();
                        break;
                    case EngineMonitor monitor:
                        using (monitor.Enter())
                            Wait();
                        break;
                    case Lock plain:
                        lock (plain)
                            Wait();
                        break;
                    default:
                        lock (held)
                            Wait();
                        break;
                }
            });
            isHeld.Wait(TestWait.Limit).Should().BeTrue("the lock is free");
            return holder;

            void Wait()
            {
                isHeld.Set();
                mayRelease.Wait(2 * TestWait.Limit);
            }
        }

        private static List<object> ValuesIn(object owner)
        {
            if (owner is IEnumerable items and not string)
                return items.Cast<object?>().Where(item => item != null && IsEngines(item.GetType())).Select(item => item!).ToList();
            if (!IsEngines(owner.GetType()))
                return [];
            var values = new List<object>();
            for (var type = owner.GetType(); type != null; type = type.BaseType)
            {
                foreach (var field in type.GetFields(All))
                {
                    if (field.FieldType.IsPointer || field.FieldType.IsPrimitive)
                        continue;
                    if (field.GetValue(owner) is { } value && IsWorthASearch(value))
                        values.Add(value);
                }
            }

            return values;
        }

        private static bool IsWorthASearch(object value) =>
            IsEngines(value.GetType()) || value is Lock or IEnumerable || value.GetType() == typeof(object);

        private static bool IsEngines(Type type) => type.Assembly == typeof(StorageEnvironment).Assembly && !type.IsEnum;
    }
}
