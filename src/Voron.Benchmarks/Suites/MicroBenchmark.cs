using System.Linq.Expressions;
using System.Reflection;
using BenchmarkDotNet.Attributes;

namespace Voron.Benchmarks.Suites;

/// <summary>A benchmark of the small suites, set up and run without BenchmarkDotNet: for counters of instructions, and for tests.</summary>
internal sealed class MicroBenchmark : IDisposable
{
    private static readonly Type[] Suites = [typeof(MicroSuite), typeof(TransactionSuite)];

    private readonly object _suite;
    private readonly Action _body;

    private MicroBenchmark(object suite, MethodInfo method)
    {
        _suite = suite;
        Operations = method.GetCustomAttribute<BenchmarkAttribute>()!.OperationsPerInvoke;
        _body = Expression.Lambda<Action>(Expression.Call(Expression.Constant(suite), method)).Compile();
    }

    /// <summary>Suite and method, as BenchmarkDotNet's filter has them.</summary>
    public static IReadOnlyList<string> Names { get; } =
        [.. from suite in Suites from method in MethodsOf(suite) select $"{suite.Name}.{method.Name}"];

    /// <summary>Operations that one run of the body stands for.</summary>
    public int Operations { get; }

    /// <exception cref="BenchmarkException">There is none of that name.</exception>
    public static MicroBenchmark Prepare(string name)
    {
        foreach (Type type in Suites)
        {
            foreach (MethodInfo method in MethodsOf(type))
            {
                if ($"{type.Name}.{method.Name}" != name)
                    continue;
                object suite = Activator.CreateInstance(type)!;
                Call<GlobalSetupAttribute>(suite);
                return new MicroBenchmark(suite, method);
            }
        }
        throw new BenchmarkException($"No small benchmark is called '{name}'. There are: {string.Join(", ", Names)}.");
    }

    public void Run(long times)
    {
        for (long i = 0; i < times; i++)
            _body();
    }

    public void Dispose() => Call<GlobalCleanupAttribute>(_suite);

    private static IEnumerable<MethodInfo> MethodsOf(Type suite) =>
        suite.GetMethods().Where(method => method.GetCustomAttribute<BenchmarkAttribute>() is not null);

    private static void Call<T>(object suite)
        where T : Attribute =>
        suite.GetType().GetMethods().Single(method => method.GetCustomAttribute<T>() is not null).Invoke(suite, null);
}
