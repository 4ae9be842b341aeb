using System.Globalization;

namespace Voron.Tests.Model;

/// <summary>
/// Random operations on the whole surface beside sorted sets. <c>VORON_SEED</c> runs one seed again,
/// <c>VORON_MODEL_SEEDS</c> another number of them than usual, <c>VORON_MODEL_FIRST</c> from another one on.
/// </summary>
public sealed class ModelTests(ITestOutputHelper output)
{
    private const int Seeds = 120;
    private const int OperationsPerSeed = 18_000;

    [Fact]
    public void An_environment_does_what_sorted_sets_do()
    {
        var seeds = Variable("VORON_SEED") is { } seed
            ? [seed]
            : Enumerable.Range(Variable("VORON_MODEL_FIRST") ?? 1, Variable("VORON_MODEL_SEEDS") ?? Seeds).ToArray();
        var next = -1;
        var operations = 0L;
        var failures = new List<string>();

        void Work()
        {
            int index;
            while ((index = Interlocked.Increment(ref next)) < seeds.Length)
            {
                lock (failures)
                {
                    if (failures.Count > 0)
                        return;
                }

                var (count, failure) = RunOne(seeds[index]);
                Interlocked.Add(ref operations, count);
                if (failure != null)
                {
                    lock (failures)
                        failures.Add(failure);
                }
            }
        }

        var threads = new[] { new Thread(Work), new Thread(Work) };
        foreach (var thread in threads)
            thread.Start();
        foreach (var thread in threads)
            thread.Join();
        output.WriteLine($"{operations} operations over seeds {seeds[0]} to {seeds[^1]}");
        if (failures.Count > 0)
            Assert.Fail(failures[0]);
        operations.Should().BeGreaterThanOrEqualTo((long)seeds.Length * OperationsPerSeed);
    }

    private static (long Operations, string? Failure) RunOne(int seed)
    {
        var settings = ModelSettings.For(seed);
        ModelRun? run = null;
        try
        {
            run = new ModelRun(settings);
            run.Run(OperationsPerSeed);
            run.Dispose();
            return (run.History.Operations, null);
        }
        catch (Exception e)
        {
            // The environment is left as it is: closing it could hide, or hang on, what has happened.
            var history = run?.History.Tell((e as ModelMismatchException)?.Key);
            return (run?.History.Operations ?? 0, $"{settings}\n(run again with VORON_SEED={seed})\n{e}\n{history}");
        }
    }

    private static int? Variable(string name) =>
        Environment.GetEnvironmentVariable(name) is { Length: > 0 } text ? int.Parse(text, CultureInfo.InvariantCulture) : null;
}
