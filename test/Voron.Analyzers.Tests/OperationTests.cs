using Voron.Analyzers.Tests.Snippets;

namespace Voron.Analyzers.Tests;

/// <summary>VORON003: operations of a group commit.</summary>
public sealed class OperationTests
{
    public static TheoryData<string> Asynchronous => AsynchronousOperationSnippets.All.Names;

    public static TheoryData<string> Synchronous => SynchronousOperationSnippets.All.Names;

    [Theory]
    [MemberData(nameof(Asynchronous))]
    public Task Work_that_an_operation_must_not_do_is_reported(string name) => AnalyzerRun.Check(AsynchronousOperationSnippets.All[name], "VORON003");

    [Theory]
    [MemberData(nameof(Synchronous))]
    public Task Other_work_is_not_reported(string name) => AnalyzerRun.Check(SynchronousOperationSnippets.All[name], "VORON003");
}
