using System.Diagnostics.CodeAnalysis;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Analyzers.Tests;

/// <summary>
/// The compiler chooses the right overload of <c>Write</c> and <c>WriteAsync</c> for every way to write an operation, and refuses those that are
/// asynchronous, with an explanation.
/// </summary>
public sealed class OperationShapeTests
{
    private const string ErrorOfObsolete = "CS0619";

    private static readonly IReadOnlyList<MetadataReference> References =
        [.. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(path => Path.GetFileName(path) is var name
                && (name.StartsWith("System.", StringComparison.Ordinal) || name is "Voron.dll" or "Microsoft.Extensions.Logging.Abstractions.dll"))
            .Select(path => MetadataReference.CreateFromFile(path))];

    /// <summary>Asynchronous operations without a state; those with one get a second parameter.</summary>
    public static TheoryData<string> Asynchronous =>
    [
        "async (tx@) => { await Task.Yield(); }",
        "async (tx@) => { await Task.Yield(); return 5; }",
        "async (tx@) => await Task.FromResult(5)",
        "async (tx@) => { }",
        "async (tx@) => throw new Exception()",
        "async (WriteTransaction tx~) => { await Task.Yield(); }",
        "async delegate (WriteTransaction tx~) { await Task.Yield(); }",
        "async delegate (WriteTransaction tx~) { await Task.Yield(); return 5; }",
        "(tx@) => Task.CompletedTask",
        "(tx@) => Task.FromResult(5)",
        "(tx@) => { return Task.Run(() => 5); }",
        "(tx@) => tx.OpenTree(\"t\").PutAsync(new byte[1], Stream.Null)",
        "(tx@) => ValueTask.CompletedTask",
        "(tx@) => new ValueTask<int>(5)",
        "static (tx@) => Task.CompletedTask",
        "ToTask",
        "ToTaskOfInt",
        "ToValueTask",
        "ToValueTaskOfInt",
        "TaskDelegate",
        "TaskOfIntDelegate",
        "async ValueTask (WriteTransaction tx~) => { await Task.Yield(); }",
    ];

    /// <summary>Operations that are fine, with the type of the result; those with a state get a second parameter.</summary>
    public static TheoryData<string, string> Synchronous => new()
    {
        { "(tx@) => { }", "void" },
        { "(tx@) => { tx.CreateTree(\"t\"); }", "void" },
        { "(tx@) => tx.OpenTree(\"t\").Put(default, default)", "void" },
        { "(tx@) => tx.CreateTree(\"t\")", "WriteTree" },
        { "(tx@) => tx.OpenTree(\"t\").Delete(default)", "bool" },
        { "(tx@) => { return 5; }", "int" },
        { "(tx@) => \"text\"", "string" },
        { "(tx@) => (1, 2)", "(int, int)" },
        { "(tx@) => throw new Exception()", "void" },
        { "(tx@) => { throw new Exception(); }", "void" },
        { "(tx@) => { while (true) { } }", "void" },
        { "(tx@) => tx.TransactionId > 0 ? 1 : throw new Exception()", "int" },
        { "static (tx@) => { }", "void" },
        { "delegate (WriteTransaction tx~) { }", "void" },
        { "delegate (WriteTransaction tx~) { return 5; }", "int" },
        { "ToVoid", "void" },
        { "ToInt", "int" },
        { "VoidDelegate", "void" },
        { "IntDelegate", "int" },

        // The compiler cannot tell these: see AsynchronousOperationTests.
        { "AsyncVoid", "void" },
    };

    [Theory]
    [MemberData(nameof(Asynchronous))]
    public void An_asynchronous_operation_does_not_compile(string operation)
    {
        var calls = Calls(operation);
        var errors = Errors(Compile(calls));
        errors.Should().HaveCount(calls.Count, "each call is refused, once").And.OnlyContain(error => error.Id == ErrorOfObsolete);
        errors.Select(error => error.Location.GetLineSpan().StartLinePosition.Line).Should().OnlyHaveUniqueItems();
        foreach (var error in errors)
        {
            error.GetMessage(System.Globalization.CultureInfo.InvariantCulture)
                .Should().Contain("must not be asynchronous").And.Contain("BeginWriteAsync");
        }
    }

    [Theory]
    [MemberData(nameof(Synchronous))]
    public void An_ordinary_operation_compiles_and_has_its_result(string operation, string result)
    {
        var calls = Calls(operation);
        var compilation = Compile(calls);
        Errors(compilation).Should().BeEmpty();
        ResultsOf(compilation).Should().Equal(calls.Select(call =>
            call.StartsWith("env.Write(", StringComparison.Ordinal) ? result : result == "void" ? "ValueTask" : $"ValueTask<{result}>"));
    }

    [Fact]
    public void The_refused_overloads_are_hidden_and_refuse_at_run_time_too()
    {
        var refused = typeof(StorageEnvironment).GetMethods()
            .Where(method => method.Name is "Write" or "WriteAsync" && method.IsDefined(typeof(ObsoleteAttribute), inherit: false)).ToList();
        refused.Should().HaveCount(16);
        using var environment = StorageEnvironment.OpenInMemory();
        foreach (var method in refused)
        {
            method.CustomAttributes.Should().Contain(attribute => attribute.AttributeType.Name == "EditorBrowsableAttribute");
            var concrete = method.IsGenericMethod ? method.MakeGenericMethod([.. method.GetGenericArguments().Select(_ => typeof(int))]) : method;
            var call = () => concrete.Invoke(environment, new object?[concrete.GetParameters().Length]
                .Select((_, i) => concrete.GetParameters()[i].ParameterType.IsValueType
                    ? Activator.CreateInstance(concrete.GetParameters()[i].ParameterType) : null)
                .ToArray());
            call.Should().Throw<System.Reflection.TargetInvocationException>().Which.InnerException
                .Should().BeOfType<ArgumentException>().Which.ParamName.Should().Be("operation");
        }
    }

    [Fact]
    [SuppressMessage("Reliability", "CA2012", Justification = "The call is refused.")]
    public async Task A_task_that_the_compiler_does_not_see_is_refused_and_its_operation_is_undone()
    {
        using var environment = StorageEnvironment.OpenInMemory();
        Refused(() => environment.Write<object>(writing => Hidden(writing, "a")));
        Refused(() => environment.Write<int, object>(1, static (writing, _) => Hidden(writing, "b")));
        Refused(() => environment.Write<Task>(writing => Hidden(writing, "c")));
        Refused(() => environment.Write<ValueTask<int>>(writing => new ValueTask<int>(Hidden(writing, "d").Id)));
        await FluentActions.Awaiting(() => environment.WriteAsync<object>(writing => Hidden(writing, "e")).AsTask())
            .Should().ThrowAsync<ArgumentException>().WithMessage("*returns a task*");
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().BeEmpty();

        static Task Hidden(WriteTransaction writing, string name)
        {
            writing.CreateTree(name);
            return Task.CompletedTask;
        }

        static void Refused(Action call) => call.Should().Throw<ArgumentException>().WithMessage("*returns a task*").Which.ParamName
            .Should().Be("operation");
    }

    private static List<string> Calls(string operation)
    {
        var plain = operation.Replace("@", "", StringComparison.Ordinal).Replace("~", "", StringComparison.Ordinal);
        var withState = operation.Replace("@", ", state", StringComparison.Ordinal).Replace("~", ", string state", StringComparison.Ordinal);
        if (plain == withState)
            withState += "WithState";
        return
        [
            $"env.Write({plain})", $"env.WriteAsync({plain})", $"env.WriteAsync({plain}, token)", $"env.Write(\"state\", {withState})",
            $"env.WriteAsync(\"state\", {withState})", $"env.WriteAsync(\"state\", {withState}, token)",
        ];
    }

    private static CSharpCompilation Compile(IEnumerable<string> calls)
    {
        var source = $$"""
            using System; using System.IO; using System.Threading; using System.Threading.Tasks; using Voron;
            class Sample
            {
                static Func<WriteTransaction, Task> TaskDelegate = null!;
                static Func<WriteTransaction, Task<int>> TaskOfIntDelegate = null!;
                static Func<WriteTransaction, string, Task> TaskDelegateWithState = null!;
                static Func<WriteTransaction, string, Task<int>> TaskOfIntDelegateWithState = null!;
                static Action<WriteTransaction> VoidDelegate = null!;
                static Func<WriteTransaction, int> IntDelegate = null!;
                static Action<WriteTransaction, string> VoidDelegateWithState = null!;
                static Func<WriteTransaction, string, int> IntDelegateWithState = null!;

                static async Task ToTask(WriteTransaction tx) => await Task.Yield();
                static async Task<int> ToTaskOfInt(WriteTransaction tx) { await Task.Yield(); return 5; }
                static ValueTask ToValueTask(WriteTransaction tx) => default;
                static ValueTask<int> ToValueTaskOfInt(WriteTransaction tx) => default;
                static void ToVoid(WriteTransaction tx) { }
                static int ToInt(WriteTransaction tx) => 5;
                static async void AsyncVoid(WriteTransaction tx) => await Task.Yield();

                static async Task ToTaskWithState(WriteTransaction tx, string state) => await Task.Yield();
                static async Task<int> ToTaskOfIntWithState(WriteTransaction tx, string state) { await Task.Yield(); return 5; }
                static ValueTask ToValueTaskWithState(WriteTransaction tx, string state) => default;
                static ValueTask<int> ToValueTaskOfIntWithState(WriteTransaction tx, string state) => default;
                static void ToVoidWithState(WriteTransaction tx, string state) { }
                static int ToIntWithState(WriteTransaction tx, string state) => 5;
                static async void AsyncVoidWithState(WriteTransaction tx, string state) => await Task.Yield();

                static void Run(StorageEnvironment env, CancellationToken token)
                {
                    {{string.Join("\n", calls.Select(call => call + ";"))}}
                }
            }
            """;
        return CSharpCompilation.Create(
            "Sample", [CSharpSyntaxTree.ParseText(source)], References,
            new(OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));
    }

    private static List<Diagnostic> Errors(CSharpCompilation compilation) =>
        compilation.GetDiagnostics().Where(diagnostic => diagnostic.Severity == DiagnosticSeverity.Error).ToList();

    private static IEnumerable<string> ResultsOf(CSharpCompilation compilation)
    {
        var tree = compilation.SyntaxTrees[0];
        var model = compilation.GetSemanticModel(tree);
        return tree.GetRoot().DescendantNodes().OfType<InvocationExpressionSyntax>()
            .Where(node => node.Expression.ToString().StartsWith("env.Write", StringComparison.Ordinal))
            .Select(call => ((IMethodSymbol)model.GetSymbolInfo(call).Symbol!).ReturnType
                .ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat));
    }
}
