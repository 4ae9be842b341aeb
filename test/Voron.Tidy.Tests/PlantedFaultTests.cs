using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Voron.Tidy.Tests;

/// <summary>
/// A planted fault is one operand of a condition or a value that a sound engine has too, so that a reader of the engine can pass over it. Those that
/// decide alone about a statement are counted: none may be added.
/// </summary>
public sealed class PlantedFaultTests
{
    /// <summary>Lower it when a fault becomes an operand.</summary>
    private const int Statements = 17;

    /// <summary>The classes that every commit passes through, from the transaction to the device and to its readers.</summary>
    private static readonly string[] CommitPath =
    [
        "WriteTransaction", "WriteTransactionBody", "WriteTransactionBody.Trees", "WriteContext", "CopyOnWritePages", "TransactionVersions",
        "PutBufferPool", "CommitSubmission", "TransactionRecordBuilder", "RecordBuilder", "PageDiff", "JournalWriter", "JournalTail",
        "RecordQueue", "JournalLeader", "RecordBatchWriter", "CommitPublisher", "StateRing",
    ];

    [Fact]
    public void Faults_are_operands_but_for_a_number_that_only_falls()
    {
        var found = SourceText.Engine.Where(file => file.TopFolder != "Testing").SelectMany(StatementsIn).ToList();
        Assert.True(found.Count == Statements, $"{found.Count} planted faults, not {Statements}, are statements of their own:\n{string.Join('\n', found)}");
    }

    [Fact]
    public void No_fault_is_a_statement_on_the_path_of_a_commit()
    {
        var files = SourceText.Engine.Where(file => CommitPath.Contains(Path.GetFileNameWithoutExtension(file.Path))).ToList();
        files.Should().HaveCount(CommitPath.Length);
        files.SelectMany(StatementsIn).Should().BeEmpty();
    }

    [Theory]
    [InlineData("if (PlantedFault.X) M();", 1)]
    [InlineData("if (!Testing.PlantedFault.X) M();", 1)]
    [InlineData("if (a && PlantedFault.X) M();", 1)]
    [InlineData("if (a && PlantedFault.X) M(); else N();", 0)]
    [InlineData("if (a && !PlantedFault.X) M();", 0)]
    [InlineData("if (a || PlantedFault.X) M();", 0)]
    [InlineData("a = PlantedFault.X ? b : a;", 0)]
    [InlineData("while (a && !PlantedFault.X) M();", 0)]
    public void Statements_are_told_from_operands(string statement, int statements) =>
        StatementsIn(new("A.cs", $"class A {{ void B() {{ {statement} }} }}")).Should().HaveCount(statements);

    private static IEnumerable<string> StatementsIn(SourceText file) =>
        from access in file.Tree.GetRoot().DescendantNodes().OfType<MemberAccessExpressionSyntax>()
        where access.Expression is IdentifierNameSyntax { Identifier.Text: "PlantedFault" }
            or MemberAccessExpressionSyntax { Name.Identifier.Text: "PlantedFault" }
        where DecidesAlone(access)
        select $"{file.Path}:{SourceText.LineOf(access)} {access.Name}";

    private static bool DecidesAlone(ExpressionSyntax fault)
    {
        if (fault.Parent is IfStatementSyntax || (fault.Parent is PrefixUnaryExpressionSyntax && fault.Parent.Parent is IfStatementSyntax))
            return true;
        SyntaxNode outer = fault;
        while (outer.Parent is BinaryExpressionSyntax and && and.IsKind(SyntaxKind.LogicalAndExpression))
            outer = and;
        return outer != fault && outer.Parent is IfStatementSyntax { Else: null };
    }
}
